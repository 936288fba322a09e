//! How documents are searched, and where their index is kept.

use std::path::PathBuf;

use rutter_base::failure::{Kind, Report};
use rutter_library::search::Boosts;

use crate::app::SearchSettings;
use crate::config::Search;
use crate::projects::expand;
use crate::settings::{Environment, Variable};

/// The folder for what is kept between starts; `None` where nothing shall or can be kept.
pub(super) fn cache(environment: &Environment) -> Option<PathBuf> {
    let folder = match environment.get(Variable::CACHE) {
        Some("off") => return None,
        Some(folder) => expand(folder),
        None => match environment.get(Variable::XDG_CACHE_HOME) {
            Some(folder) => PathBuf::from(folder).join("rutter"),
            None => std::env::home_dir()?.join(CACHES).join("rutter"),
        },
    };
    // A relative folder would be another one for each working directory.
    folder.is_absolute().then(|| folder.join("index"))
}

/// Where programs keep what they can make again, below the home.
const CACHES: &str = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };

/// How documents are searched: flag, environment, file, default.
pub(super) fn settings(
    flags: &Search,
    environment: &Environment,
    file: &Search,
) -> Result<SearchSettings, Report> {
    let weight = |value: &str| value.parse::<f32>().ok().filter(|weight| is_weight(*weight));
    let boost = |flag: Option<f32>, variable: Variable, file: Option<f32>, default: f32| {
        let chosen = match flag {
            Some(flag) => flag,
            None => environment
                .parse(variable, weight, "a number from 0 to 1000")?
                .or(file)
                .unwrap_or(default),
        };
        if is_weight(chosen) {
            Ok(chosen)
        } else {
            Err(Report::new(
                Kind::Invalid,
                format!("a search boost of {chosen}: expected a number from 0 to 1000"),
            ))
        }
    };
    let defaults = SearchSettings::default();
    let count = |value: &str| value.parse().ok();
    let max_results = match flags.max_results {
        Some(count) => Some(count),
        None => {
            environment.parse(Variable::SEARCH_MAX_RESULTS, count, "a number")?.or(file.max_results)
        }
    };
    let max_results = max_results.unwrap_or(defaults.max_results);
    if !(1..=1_000).contains(&max_results) {
        return Err(Report::new(
            Kind::Invalid,
            format!("{max_results} search results: expected 1 to 1000"),
        ));
    }
    let boosts = Boosts {
        keywords: boost(
            flags.keywords_boost,
            Variable::SEARCH_KEYWORDS_BOOST,
            file.keywords_boost,
            defaults.boosts.keywords,
        )?,
        name: boost(
            flags.name_boost,
            Variable::SEARCH_NAME_BOOST,
            file.name_boost,
            defaults.boosts.name,
        )?,
        content: boost(
            flags.content_boost,
            Variable::SEARCH_CONTENT_BOOST,
            file.content_boost,
            defaults.boosts.content,
        )?,
    };
    Ok(SearchSettings { max_results, boosts })
}

fn is_weight(weight: f32) -> bool {
    (0.0..=1_000.0).contains(&weight)
}
