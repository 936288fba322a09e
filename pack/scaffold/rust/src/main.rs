//! The command line of {{name}}.

fn main() {
    let name = std::env::args().nth(1);
    let name = name.as_deref().unwrap_or("world");
    println!("{}", {{module}}::answer(name));
}
