//! Who a request comes from, when it comes through proxies.
//!
//! Anyone can write anything into `X-Forwarded-For`. What a proxy of the operator's own adds to
//! it is at the end, so it is read from there, for as long as it names such proxies.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// The proxies that the operator has put before the server.
#[derive(Debug, Clone, Default)]
pub struct Proxies(Vec<Network>);

/// All addresses whose first bits are these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            None => (text, None),
            Some((address, bits)) => (address, Some(bits.parse().ok()?)),
        };
        let address: IpAddr = address.parse().ok()?;
        // Senders are never of this kind: it would match nobody.
        if address.to_canonical() != address {
            return None;
        }
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        (bits <= most).then_some(Self { address, bits })
    }

    fn contains(self, address: IpAddr) -> bool {
        let differ = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(32 - u32::from(self.bits))
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits() ^ other.to_bits())
                .checked_shr(128 - u32::from(self.bits))
                .map(|differ| u32::from(differ != 0)),
            _ => Some(1),
        };
        // Nothing is left to differ where no bits are compared.
        differ.is_none_or(|differ| differ == 0)
    }
}

impl Proxies {
    /// The proxies by their addresses or networks; the place of the first that is neither.
    pub fn new(texts: &[String]) -> Result<Self, usize> {
        let networks = texts.iter().enumerate();
        let networks = networks.map(|(place, text)| Network::parse(text.trim()).ok_or(place));
        networks.collect::<Result<_, _>>().map(Self)
    }

    fn has(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }

    /// Who sent a request that came from `peer`: the last address that is none of the proxies.
    pub(super) fn sender(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut sender = peer.to_canonical();
        let said = headers.get_all(FORWARDED_FOR).iter().rev();
        let mut said = said.flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
        while self.has(sender) {
            match said.next().and_then(address) {
                Some(before) => sender = before,
                None => break,
            }
        }
        sender
    }
}

/// An address, as proxies write it: some add the port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.trim_start_matches('[').trim_end_matches(']').parse().ok();
    let address = bare.or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(proxies: &[&str], peer: &str, said: &[&str]) -> String {
        let proxies: Vec<_> = proxies.iter().map(|&text| text.to_owned()).collect();
        let mut headers = HeaderMap::new();
        for said in said {
            headers.append(FORWARDED_FOR, said.parse().unwrap());
        }
        Proxies::new(&proxies).unwrap().sender(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_what_a_proxy_of_ours_added_is_believed() {
        let ours = ["10.0.0.0/8", "::1", "2001:db8::/32"];
        for (peer, said, expected) in [
            // Whoever is no proxy of ours is who they are.
            ("192.0.2.7", &["198.51.100.1"][..], "192.0.2.7"),
            ("10.1.2.3", &["198.51.100.1"], "198.51.100.1"),
            // What the sender wrote itself is before what the proxies added.
            ("10.1.2.3", &["1.1.1.1, 198.51.100.1"], "198.51.100.1"),
            ("10.1.2.3", &["1.1.1.1", "198.51.100.1, 10.9.9.9"], "198.51.100.1"),
            ("::1", &["2001:db8::7, [2001:db8::8]:443"], "2001:db8::7"),
            ("::ffff:10.0.0.1", &["198.51.100.1:5000"], "198.51.100.1"),
            // Without anything that can be read it is the proxy itself.
            ("10.1.2.3", &[], "10.1.2.3"),
            ("10.1.2.3", &["unknown"], "10.1.2.3"),
            ("10.1.2.3", &["198.51.100.1, _hidden"], "10.1.2.3"),
        ] {
            assert_eq!(sender(&ours, peer, said), expected, "{peer} {said:?}");
        }
        assert_eq!(sender(&[], "10.1.2.3", &["198.51.100.1"]), "10.1.2.3");
        assert_eq!(sender(&["0.0.0.0/0"], "10.1.2.3", &["198.51.100.1"]), "198.51.100.1");
    }

    #[test]
    fn a_network_is_its_first_bits() {
        let network = |text| Network::parse(text).unwrap();
        let contains = |text, address: &str| network(text).contains(address.parse().unwrap());
        assert!(contains("192.168.4.0/22", "192.168.7.255"));
        assert!(!contains("192.168.4.0/22", "192.168.8.0"));
        assert!(contains("fd00::/8", "fdff::1") && !contains("fd00::/8", "fc00::1"));
        assert!(contains("::/0", "fc00::1") && !contains("::/0", "10.0.0.1"));
        assert!(contains("10.0.0.1", "10.0.0.1") && !contains("10.0.0.1", "10.0.0.0"));
        for wrong in [
            "",
            "proxy",
            "10.0.0.0/33",
            "10.0.0/8",
            "::1/129",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "::ffff:10.0.0.7",
        ] {
            assert_eq!(Network::parse(wrong), None, "{wrong}");
        }
    }
}
