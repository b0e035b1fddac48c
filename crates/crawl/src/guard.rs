//! Which addresses a crawl may connect to: the public internet, and what is named.
//!
//! A crawler follows what strangers write, and it runs inside somebody's network. A link to
//! `http://169.254.169.254/` or a name that resolves to `127.0.0.1` must not reach anything. So the
//! address is judged *after* the name was resolved, the connection goes to that very address, and
//! every redirect is judged again. Whatever embeds an IPv4 address (mapped, translated, tunnelled)
//! is judged by both.
//!
//! Cost: a scan of some forty ranges, nanoseconds beside a connection.
//! Guarantee: an address in none of the public ranges is refused with the reason, unless a network
//! that was allowed by name contains it.
//! Not here: resolving and connecting; the engine asks [`Guard::permits`] before each connection.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};

use ipnet::{IpNet, Ipv6Net};
use url::{Host, Url};

/// Why a connection is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Forbidden {
    /// The address is not one of the public internet.
    #[error("{address} is {reason}")]
    Address {
        /// The address.
        address: IpAddr,
        /// What kind it is.
        reason: Reason,
    },
    /// The address carries another inside, which is not one of the public internet.
    #[error("{address} leads to {inner}, which is {reason}")]
    Embedded {
        /// The address.
        address: IpAddr,
        /// What it carries.
        inner: Ipv4Addr,
        /// What kind that is.
        reason: Reason,
    },
    /// Only `http` and `https` are asked.
    #[error("the scheme {scheme} is neither http nor https")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The port belongs to a service that is not HTTP, and that could take a request for a command.
    #[error("port {port} belongs to another service")]
    Port {
        /// The port.
        port: u16,
    },
    /// The name is one of the machine or of the local network.
    #[error("{host} is a local name")]
    LocalName {
        /// The name.
        host: String,
    },
    /// There is no host.
    #[error("there is no host")]
    NoHost,
}

/// What kind of address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// 0.0.0.0/8, `::`.
    Unspecified,
    /// 127.0.0.0/8, `::1`.
    Loopback,
    /// 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16.
    Private,
    /// 100.64.0.0/10: between a provider and its customers.
    SharedByProvider,
    /// 169.254.0.0/16, fe80::/10.
    LinkLocal,
    /// The address where a cloud tells a machine its secrets.
    Metadata,
    /// fc00::/7 and the older fec0::/10.
    UniqueLocal,
    /// 224.0.0.0/4, ff00::/8.
    Multicast,
    /// 255.255.255.255.
    Broadcast,
    /// 192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24, 2001:db8::/32, 3fff::/20.
    Documentation,
    /// 198.18.0.0/15, 2001:2::/48.
    Benchmarking,
    /// Set aside for protocols, or for no use at all.
    Reserved,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Reason::Unspecified => "the unspecified address",
            Reason::Loopback => "this machine (loopback)",
            Reason::Private => "in a private network",
            Reason::SharedByProvider => "shared address space of a provider",
            Reason::LinkLocal => "link-local",
            Reason::Metadata => "a cloud's metadata service",
            Reason::UniqueLocal => "unique local",
            Reason::Multicast => "multicast",
            Reason::Broadcast => "broadcast",
            Reason::Documentation => "for documentation",
            Reason::Benchmarking => "for benchmarking",
            Reason::Reserved => "reserved",
        })
    }
}

/// IPv4 ranges that are not public, from the IANA registry of special-purpose addresses.
const FORBIDDEN_V4: [([u8; 4], u32, Reason); 20] = [
    ([169, 254, 169, 254], 32, Reason::Metadata),
    ([169, 254, 170, 2], 32, Reason::Metadata),
    ([100, 100, 100, 200], 32, Reason::Metadata),
    ([192, 0, 0, 192], 32, Reason::Metadata),
    ([168, 63, 129, 16], 32, Reason::Metadata),
    ([0, 0, 0, 0], 8, Reason::Unspecified),
    ([10, 0, 0, 0], 8, Reason::Private),
    ([100, 64, 0, 0], 10, Reason::SharedByProvider),
    ([127, 0, 0, 0], 8, Reason::Loopback),
    ([169, 254, 0, 0], 16, Reason::LinkLocal),
    ([172, 16, 0, 0], 12, Reason::Private),
    ([192, 0, 0, 0], 24, Reason::Reserved),
    ([192, 0, 2, 0], 24, Reason::Documentation),
    ([192, 88, 99, 0], 24, Reason::Reserved),
    ([192, 168, 0, 0], 16, Reason::Private),
    ([198, 18, 0, 0], 15, Reason::Benchmarking),
    ([198, 51, 100, 0], 24, Reason::Documentation),
    ([203, 0, 113, 0], 24, Reason::Documentation),
    ([224, 0, 0, 0], 4, Reason::Multicast),
    ([255, 255, 255, 255], 32, Reason::Broadcast),
];

/// IPv6 ranges that are not public. Everything outside 2000::/3 is refused too, after these.
const FORBIDDEN_V6: [([u16; 8], u32, Reason); 16] = [
    ([0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254], 128, Reason::Metadata),
    ([0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254], 128, Reason::Metadata),
    ([0xfd00, 0x00c1, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128, Reason::Metadata),
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, Reason::Unspecified),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, Reason::Loopback),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Reason::LinkLocal),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Reason::UniqueLocal),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Reason::UniqueLocal),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Reason::Multicast),
    ([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32, Reason::Documentation),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Reason::Documentation),
    ([0x2001, 0x0002, 0, 0, 0, 0, 0, 0], 48, Reason::Benchmarking),
    // For protocols: what is assigned there (benchmarks, ORCHIDs, anycast services) serves no pages.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Reason::Reserved),
    // Given back when the 6bone ended.
    ([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16, Reason::Reserved),
    // Discard-only.
    ([0x0100, 0, 0, 1, 0, 0, 0, 0], 64, Reason::Reserved),
    ([0x0100, 0, 0, 0, 0, 0, 0, 0], 64, Reason::Reserved),
];

/// Ports of services that are not HTTP: the bad ports of the Fetch standard, which browsers refuse, and
/// those of MySQL, PostgreSQL, Redis and memcached.
const FORBIDDEN_PORTS: [u16; 87] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3306, 3659, 4045, 4190, 5060, 5061, 5432, 6000, 6379, 6566,
    6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211,
];

/// A prefix whose addresses a network translates to IPv4 addresses (NAT64).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nat64Prefix(Ipv6Net);

/// A text is no prefix of NAT64.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits")]
pub struct NotNat64Prefix {
    /// The text.
    pub text: String,
}

impl std::str::FromStr for Nat64Prefix {
    type Err = NotNat64Prefix;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let network: Option<Ipv6Net> = text.parse().ok();
        let is_length = |length| matches!(length, 32 | 40 | 48 | 56 | 64 | 96);
        network
            .filter(|network| is_length(network.prefix_len()))
            .map(|network| Nat64Prefix(network.trunc()))
            .ok_or_else(|| NotNat64Prefix { text: text.to_owned() })
    }
}

impl Nat64Prefix {
    /// The IPv4 address inside (RFC 6052, section 2.2): it follows the prefix, and bits 64 to 71 are
    /// passed over.
    fn translate(&self, address: Ipv6Addr) -> Option<Ipv4Addr> {
        if !self.0.contains(&address) {
            return None;
        }
        let octets = address.octets();
        let start = usize::from(self.0.prefix_len() / 8);
        let mut inner = (start..).filter(|&at| at != 8).map(|at| octets[at]);
        let mut next = || inner.next().unwrap_or_default();
        Some(Ipv4Addr::new(next(), next(), next(), next()))
    }
}

/// What was named to be allowed has no address.
#[derive(Debug, thiserror::Error)]
#[error("`{named}` has no address")]
pub struct NotAllowable {
    /// What was named.
    pub named: String,
    /// What the system said.
    pub source: std::io::Error,
}

/// The judge of addresses.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    allow: Vec<IpNet>,
    nat64: Vec<Nat64Prefix>,
}

impl Guard {
    /// Public addresses and those in the networks that are named.
    #[must_use]
    pub fn new(allow: Vec<IpNet>) -> Self {
        Guard { allow, nat64: Vec::new() }
    }

    /// Judges addresses with one of these prefixes by the IPv4 address that they are translated to, as
    /// those of 64:ff9b::/96 always are.
    #[must_use]
    pub fn with_nat64(mut self, prefixes: Vec<Nat64Prefix>) -> Self {
        self.nat64 = prefixes;
        self
    }

    /// Public addresses, and what a person names beside: networks such as 192.168.1.0/24, addresses,
    /// and hosts. A host's addresses are those in `names`, or what the system says now.
    ///
    /// # Errors
    ///
    /// [`NotAllowable`] for a name that has no address.
    pub fn allowing(
        named: &[String],
        names: &HashMap<String, Vec<IpAddr>>,
    ) -> Result<Self, NotAllowable> {
        let mut allow = Vec::new();
        for text in named {
            let host = text.trim_start_matches('[').trim_end_matches(']');
            if let Ok(network) = text.parse() {
                allow.push(network);
            } else if let Ok(address) = host.parse::<IpAddr>() {
                allow.push(address.into());
            } else if let Some(addresses) = names.get(&text.to_ascii_lowercase()) {
                allow.extend(addresses.iter().map(|&address| IpNet::from(address)));
            } else {
                let found = (text.as_str(), 0)
                    .to_socket_addrs()
                    .map_err(|source| NotAllowable { named: text.clone(), source })?;
                allow.extend(found.map(|address| IpNet::from(address.ip())));
            }
        }
        Ok(Guard::new(allow))
    }

    /// Whether a connection to this address is allowed.
    ///
    /// # Errors
    ///
    /// What kind of address it is, if not.
    pub fn permits(&self, ip: IpAddr) -> Result<(), Forbidden> {
        if self.names(ip) {
            return Ok(());
        }
        match ip {
            IpAddr::V4(v4) => match reason_v4(v4) {
                Some(reason) => Err(Forbidden::Address { address: ip, reason }),
                None => Ok(()),
            },
            IpAddr::V6(v6) => {
                let translated = self.nat64.iter().find_map(|prefix| prefix.translate(v6));
                for inner in embedded(v6).into_iter().flatten().chain(translated) {
                    if let Some(reason) = reason_v4(inner).filter(|_| !self.names(inner.into())) {
                        return Err(Forbidden::Embedded { address: ip, inner, reason });
                    }
                }
                // A mapped address is the IPv4 address: if that may be reached, so may this.
                // So is one that a named prefix translates.
                if v6.to_ipv4_mapped().is_some() || translated.is_some() {
                    return Ok(());
                }
                match reason_v6(v6) {
                    Some(reason) => Err(Forbidden::Address { address: ip, reason }),
                    None => Ok(()),
                }
            }
        }
    }

    /// Whether an address of a page may be asked, as far as can be said before its name is
    /// resolved.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn permits_url(&self, url: &Url) -> Result<(), Forbidden> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Forbidden::Scheme { scheme: url.scheme().to_owned() });
        }
        let host = url.host().ok_or(Forbidden::NoHost)?;
        if let Some(port) = url.port().filter(|port| FORBIDDEN_PORTS.contains(port)) {
            return Err(Forbidden::Port { port });
        }
        match host {
            Host::Ipv4(ip) => self.permits(ip.into()),
            Host::Ipv6(ip) => self.permits(ip.into()),
            Host::Domain(name) => self.permits_name(name),
        }
    }

    /// Names that only mean something on this machine or network. They are refused unless this
    /// machine is named; what they resolve to is judged as any other address.
    fn permits_name(&self, name: &str) -> Result<(), Forbidden> {
        let short = name.trim_end_matches('.').to_ascii_lowercase();
        if short.is_empty() {
            return Err(Forbidden::NoHost);
        }
        let last = short.rsplit('.').next().unwrap_or_default();
        let is_local = matches!(last, "localhost" | "local" | "localdomain" | "internal" | "lan")
            || short.ends_with(".home.arpa")
            || short.ends_with(".in-addr.arpa")
            || short.ends_with(".ip6.arpa");
        if is_local && self.allow.is_empty() {
            return Err(Forbidden::LocalName { host: name.to_owned() });
        }
        Ok(())
    }

    fn names(&self, ip: IpAddr) -> bool {
        self.allow.iter().any(|network| network.contains(&ip))
    }
}

fn reason_v4(ip: Ipv4Addr) -> Option<Reason> {
    let bits = ip.to_bits();
    let inside = |network: [u8; 4], length: u32| {
        let network = u32::from_be_bytes(network);
        length == 0 || (bits ^ network) >> (32 - length) == 0
    };
    let range = FORBIDDEN_V4.iter().find(|&&(network, length, _)| inside(network, length));
    match range {
        Some(&(_, _, reason)) => Some(reason),
        None if inside([240, 0, 0, 0], 4) => Some(Reason::Reserved),
        None => None,
    }
}

fn reason_v6(ip: Ipv6Addr) -> Option<Reason> {
    let bits = ip.to_bits();
    let inside = |network: [u16; 8], length: u32| {
        (bits ^ Ipv6Addr::from(network).to_bits()) >> (128 - length) == 0
    };
    // Teredo, which is judged by the addresses inside, is the one part of 2001::/23 that leads somewhere.
    if inside([0x2001, 0, 0, 0, 0, 0, 0, 0], 32) {
        return None;
    }
    let range = FORBIDDEN_V6.iter().find(|&&(network, length, _)| inside(network, length));
    match range {
        Some(&(_, _, reason)) => Some(reason),
        // Only 2000::/3 is given out, and 64:ff9b::/96 leads to IPv4 addresses judged before.
        None if inside([0x2000, 0, 0, 0, 0, 0, 0, 0], 3) => None,
        None if inside([0x0064, 0xff9b, 0, 0, 0, 0, 0, 0], 96) => None,
        None => Some(Reason::Reserved),
    }
}

/// IPv4 addresses that an IPv6 address leads to: mapped, compatible, translated (with and without a
/// length of its own), 6to4, both of Teredo, ISATAP.
fn embedded(ip: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0] if ip != Ipv6Addr::UNSPECIFIED && ip != Ipv6Addr::LOCALHOST => {
            [Some(of(g, h)), None]
        }
        [0, 0, 0, 0, 0, 0xffff] | [0, 0, 0, 0, 0xffff, 0] => [Some(of(g, h)), None],
        [0x0064, 0xff9b, ..] => [Some(of(g, h)), None],
        [0x2002, high, low, ..] => [Some(of(high, low)), None],
        [0x2001, 0, server_high, server_low, ..] => {
            [Some(of(server_high, server_low)), Some(of(!g, !h))]
        }
        [_, _, _, _, 0 | 0x0200, 0x5efe] => [Some(of(g, h)), None],
        _ => [None, None],
    }
}
