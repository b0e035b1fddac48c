//! Addresses a crawl must not connect to, in every way to write them.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use url::Url;
use wonbon_crawl::canonical::Rules;
use wonbon_crawl::guard::{Forbidden, Guard, Reason};

/// What an address of a page is refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Not(Reason),
    LeadsTo(Reason),
    Scheme,
    Port,
    Local,
    NoUrl,
}

use Reason::{
    Benchmarking, Broadcast, Documentation, LinkLocal, Loopback, Metadata, Multicast, Private,
    Reserved, SharedByProvider, UniqueLocal, Unspecified,
};
use Why::{LeadsTo, Local, NoUrl, Not, Port, Scheme};

const HOSTILE: [(&str, Why); 158] = [
    // This machine, in every notation that resolvers and browsers take.
    ("http://127.0.0.1/", Not(Loopback)),
    ("http://127.0.0.1:8080/", Not(Loopback)),
    ("http://127.1/", Not(Loopback)),
    ("http://127.0.1/", Not(Loopback)),
    ("http://127.255.255.254/", Not(Loopback)),
    ("http://2130706433/", Not(Loopback)),
    ("http://017700000001/", Not(Loopback)),
    ("http://0x7f000001/", Not(Loopback)),
    ("http://0x7F.1/", Not(Loopback)),
    ("http://0177.0.0.1/", Not(Loopback)),
    ("http://0177.0.0x0.01/", Not(Loopback)),
    ("http://0x7f.0x0.0x0.0x1/", Not(Loopback)),
    ("http://127.0.0.1./", Not(Loopback)),
    ("http://127.0.0.1../", Not(Loopback)),
    ("http://0x7f.1../", Not(Loopback)),
    ("http://127%2e0%2e0%2e1/", Not(Loopback)),
    ("http://%31%32%37.0.0.1/", Not(Loopback)),
    ("http://127。0。0。1/", Not(Loopback)),
    ("http://①②⑦.⓪.⓪.①/", Not(Loopback)),
    ("http://１２７.0.0.1/", Not(Loopback)),
    ("http://[::1]/", Not(Loopback)),
    ("http://[0:0:0:0:0:0:0:1]/", Not(Loopback)),
    ("http://[0000::0001]/", Not(Loopback)),
    ("http://[::ffff:127.0.0.1]/", LeadsTo(Loopback)),
    ("http://[::ffff:7f00:1]/", LeadsTo(Loopback)),
    ("http://[0:0:0:0:0:ffff:127.0.0.1]/", LeadsTo(Loopback)),
    ("http://[::127.0.0.1]/", LeadsTo(Loopback)),
    ("http://[::ffff:0:127.0.0.1]/", LeadsTo(Loopback)),
    ("http://[64:ff9b::127.0.0.1]/", LeadsTo(Loopback)),
    ("http://[64:ff9b::7f00:1]/", LeadsTo(Loopback)),
    ("http://[64:ff9b:1::127.0.0.1]/", LeadsTo(Loopback)),
    ("http://[2002:7f00:1::]/", LeadsTo(Loopback)),
    ("http://[2002:7f00:0001::1]/", LeadsTo(Loopback)),
    ("http://[2001:0:7f00:1::]/", LeadsTo(Loopback)),
    // Teredo carries the client's address with every bit turned: 127.0.0.1 is 80ff:fffe.
    ("http://[2001:0:0808:0808::80ff:fffe]/", LeadsTo(Loopback)),
    ("http://[2001:0:808:808::5601:5601]/", LeadsTo(Metadata)),
    ("http://[2001:0:808:808::f5fe:fdfc]/", LeadsTo(Private)),
    ("http://[2001:0:a00:1::f7f7:f7f7]/", LeadsTo(Private)),
    ("http://[fe80::5efe:7f00:1]/", LeadsTo(Loopback)),
    ("http://[2a00:1450::5efe:127.0.0.1]/", LeadsTo(Loopback)),
    ("http://[2a00:1450::200:5efe:127.0.0.1]/", LeadsTo(Loopback)),
    ("http://localhost/", Local),
    ("http://LOCALHOST/", Local),
    ("http://localhost./", Local),
    ("http://a.localhost/", Local),
    ("http://ⓛocalhost/", Local),
    ("http://loc%61lhost/", Local),
    ("http://printer.local/", Local),
    ("http://metadata.google.internal/", Local),
    ("http://router.lan/", Local),
    ("http://localhost.localdomain/", Local),
    ("http://nas.home.arpa/", Local),
    ("http://1.0.0.127.in-addr.arpa/", Local),
    ("http://1.0.0.0.ip6.arpa./", Local),
    ("http://a.b.lan./", Local),
    ("http://instance-data.ec2.internal/", Local),
    ("http://./", NoUrl),
    ("http://../", NoUrl),
    ("http:///", NoUrl),
    // Names in front of the host, and hosts that hide behind them.
    ("http://example.org@127.0.0.1/", Not(Loopback)),
    ("http://example.org:80@127.0.0.1/", Not(Loopback)),
    ("http://example.org%40x@127.0.0.1/", Not(Loopback)),
    ("http://example.org%2f@127.0.0.1/", Not(Loopback)),
    ("http://a@b@127.0.0.1/", Not(Loopback)),
    ("http:\\\\127.0.0.1\\x", Not(Loopback)),
    ("http:/127.0.0.1/", Not(Loopback)),
    ("http:127.0.0.1/", Not(Loopback)),
    ("http:///127.0.0.1/", Not(Loopback)),
    ("http:\\/\\/127.0.0.1", Not(Loopback)),
    ("http://127.0.0.1\\@example.org/", Not(Loopback)),
    ("http://127.0.0.1#@example.org/", Not(Loopback)),
    ("http://127.0.0.1?@example.org/", Not(Loopback)),
    ("ht\ntp://127.0.0.1/", Not(Loopback)),
    ("http://127.0.\t0.1/", Not(Loopback)),
    ("  http://127.0.0.1/  ", Not(Loopback)),
    ("HtTpS://127.0.0.1/", Not(Loopback)),
    // Other addresses that are nobody's on the internet.
    ("http://0/", Not(Unspecified)),
    ("http://0.0.0.0/", Not(Unspecified)),
    ("http://0.1.2.3/", Not(Unspecified)),
    ("http://[::]/", Not(Unspecified)),
    ("http://[::ffff:0.0.0.0]/", LeadsTo(Unspecified)),
    ("http://10.0.0.1/", Not(Private)),
    ("http://012.1.2.3/", Not(Private)),
    ("http://10.255.255.255/", Not(Private)),
    ("http://172.16.0.1/", Not(Private)),
    ("http://172.31.255.255/", Not(Private)),
    ("http://192.168.1.1/", Not(Private)),
    ("http://3232235777/", Not(Private)),
    ("http://0xc0a80101/", Not(Private)),
    ("http://[::ffff:c0a8:101]/", LeadsTo(Private)),
    ("http://[2002:c0a8:101::1]/", LeadsTo(Private)),
    ("http://[64:ff9b::10.0.0.1]/", LeadsTo(Private)),
    ("http://100.64.0.1/", Not(SharedByProvider)),
    ("http://100.127.255.255/", Not(SharedByProvider)),
    ("http://169.254.169.254/latest/meta-data/", Not(Metadata)),
    ("http://2852039166/", Not(Metadata)),
    ("http://0xa9fea9fe/", Not(Metadata)),
    ("http://0251.0376.0251.0376/", Not(Metadata)),
    ("http://[::ffff:169.254.169.254]/", LeadsTo(Metadata)),
    ("http://[64:ff9b::a9fe:a9fe]/", LeadsTo(Metadata)),
    ("http://[2002:a9fe:a9fe::]/", LeadsTo(Metadata)),
    ("http://[fd00:ec2::254]/", Not(Metadata)),
    ("http://[fd20:ce::254]/", Not(Metadata)),
    ("http://100.100.100.200/", Not(Metadata)),
    ("http://192.0.0.192/", Not(Metadata)),
    ("http://168.63.129.16/", Not(Metadata)),
    ("http://169.254.0.1/", Not(LinkLocal)),
    ("http://[fe80::1]/", Not(LinkLocal)),
    ("http://[febf::1]/", Not(LinkLocal)),
    ("http://[fc00::1]/", Not(UniqueLocal)),
    ("http://[fdff::1]/", Not(UniqueLocal)),
    ("http://[fec0::1]/", Not(UniqueLocal)),
    ("http://224.0.0.1/", Not(Multicast)),
    ("http://239.255.255.250/", Not(Multicast)),
    ("http://[ff02::1]/", Not(Multicast)),
    ("http://255.255.255.255/", Not(Broadcast)),
    ("http://192.0.2.1/", Not(Documentation)),
    ("http://[2001:db8::1]/", Not(Documentation)),
    ("http://198.18.0.1/", Not(Benchmarking)),
    ("http://240.0.0.1/", Not(Reserved)),
    ("http://192.0.0.1/", Not(Reserved)),
    ("http://[4000::1]/", Not(Reserved)),
    // For protocols, and what the 6bone gave back.
    ("http://[2001:1::1]/", Not(Reserved)),
    ("http://[2001:3::1]/", Not(Reserved)),
    ("http://[2001:4:112::1]/", Not(Reserved)),
    ("http://[2001:10::1]/", Not(Reserved)),
    ("http://[2001:20::1]/", Not(Reserved)),
    ("http://[2001:30::1]/", Not(Reserved)),
    ("http://[2001:1ff:ffff::1]/", Not(Reserved)),
    ("http://[3ffe::1]/", Not(Reserved)),
    ("http://[3ffe:ffff::1]/", Not(Reserved)),
    // Other schemes, other services, no address at all.
    ("file:///etc/passwd", Scheme),
    ("gopher://example.org/", Scheme),
    ("ftp://example.org/", Scheme),
    ("http://example.org:22/", Port),
    ("http://example.org:6379/", Port),
    ("http://example.org:0/", Port),
    ("http://example.org:6669/", Port),
    ("http://example.org:6679/", Port),
    ("http://example.org:6697/", Port),
    ("https://example.org:10080/", Port),
    ("http://256.256.256.256/", NoUrl),
    ("http://1.2.3.4.5/", NoUrl),
    ("http://0x100000000/", NoUrl),
    ("http://[::1/", NoUrl),
    ("http://[fe80::1%25eth0]/", NoUrl),
    ("http://127.0.0.1:99999/", NoUrl),
    ("http://exa mple.org/", NoUrl),
    ("data:text/html,x", Scheme),
    ("javascript:alert(1)", Scheme),
    ("ws://127.0.0.1/", Scheme),
    ("https://example.org:25/", Port),
    ("http://example.org:3306/", Port),
    ("http://example.org:11211/", Port),
    ("http://198.19.255.255/", Not(Benchmarking)),
    ("http://[100::1]/", Not(Reserved)),
    ("http://[5f00::1]/", Not(Reserved)),
    ("http://[2001:2::1]/", Not(Benchmarking)),
];

/// As the crawl comes to judge it: as it stands on a page, canonical or not.
fn judged(reference: &str, canonical: bool) -> Result<(), Why> {
    let url = if canonical {
        match Rules::default().canonical(None, reference) {
            Ok(url) => url,
            Err(wonbon_crawl::canonical::NotAnAddress::OtherScheme { .. }) => {
                return Err(Scheme);
            }
            Err(_) => return Err(NoUrl),
        }
    } else {
        Url::parse(reference).map_err(|_| NoUrl)?
    };
    Guard::default().permits_url(&url).map_err(|forbidden| match forbidden {
        Forbidden::Address { reason, .. } => Not(reason),
        Forbidden::Embedded { reason, .. } => LeadsTo(reason),
        Forbidden::Scheme { .. } => Scheme,
        Forbidden::Port { .. } => Port,
        Forbidden::LocalName { .. } => Local,
        _ => NoUrl,
    })
}

#[test]
fn no_hostile_address_gets_through_however_it_is_written() {
    for (reference, why) in HOSTILE {
        assert_eq!(judged(reference, true), Err(why), "{reference}");
        // Without the canonical form two dots at the end make a name that no resolver knows.
        if !reference.contains("../") {
            assert_eq!(judged(reference, false), Err(why), "{reference} as parsed");
        }
    }
}

#[test]
fn public_addresses_get_through() {
    for reference in [
        "http://example.org/",
        "https://example.org:8443/",
        "http://8.8.8.8/",
        "http://[2606:4700::1111]/",
        "http://[::ffff:8.8.8.8]/",
        "http://[64:ff9b::8.8.8.8]/",
        "http://[2002:808:808::1]/",
        // Teredo: server and client are public.
        "http://[2001:0:808:808::f7f7:f7f7]/",
        "http://172.32.0.1/",
        "http://100.128.0.1/",
        "http://xn--bj0bj06e.kr/",
        "http://원본.한국/",
        "http://locality.org/",
        "http://internal.example.org/",
    ] {
        assert_eq!(judged(reference, true), Ok(()), "{reference}");
    }
}

#[test]
fn named_networks_are_allowed_and_no_others() {
    let guard = Guard::new(vec!["127.0.0.2/32".parse().unwrap(), "fd00::/8".parse().unwrap()]);
    let permits = |ip: &str| guard.permits(ip.parse().unwrap());
    assert!(permits("127.0.0.2").is_ok());
    assert!(permits("::ffff:127.0.0.2").is_ok());
    assert!(permits("127.0.0.1").is_err());
    assert!(permits("fd12::1").is_ok());
    assert!(permits("fe80::1").is_err());
    assert!(permits("10.0.0.1").is_err());
    assert!(guard.permits_url(&Url::parse("http://localhost/").unwrap()).is_ok());
    assert!(guard.permits_url(&Url::parse("file:///x").unwrap()).is_err());
}

#[test]
fn what_a_person_names_is_allowed() {
    let names = std::collections::HashMap::from([(
        "intranet.example".to_owned(),
        vec!["10.1.1.1".parse().unwrap(), "fd00::9".parse().unwrap()],
    )]);
    let named = ["192.168.7.0/24", "127.0.0.9", "[fd00::5]", "Intranet.Example", "127.0.0.8"];
    let guard = Guard::allowing(&named.map(str::to_owned), &names).unwrap();
    for allowed in ["192.168.7.200", "127.0.0.9", "fd00::5", "10.1.1.1", "fd00::9", "127.0.0.8"] {
        assert!(guard.permits(allowed.parse().unwrap()).is_ok(), "{allowed}");
    }
    for other in ["192.168.8.1", "127.0.0.1", "fd00::6", "10.1.1.2"] {
        assert!(guard.permits(other.parse().unwrap()).is_err(), "{other}");
    }
    // A name that nobody gave an address is asked of the system.
    let guard = Guard::allowing(&["localhost".to_owned()], &names).unwrap();
    assert!(guard.permits("127.0.0.1".parse().unwrap()).is_ok());
    let unknown = Guard::allowing(&["..".to_owned()], &names).unwrap_err();
    assert_eq!(unknown.to_string(), "`..` has no address");
}

#[test]
fn a_refusal_says_why_in_a_sentence() {
    let said = |ip: &str| Guard::default().permits(ip.parse().unwrap()).unwrap_err().to_string();
    assert_eq!(said("169.254.169.254"), "169.254.169.254 is a cloud's metadata service");
    assert_eq!(
        said("::ffff:10.0.0.1"),
        "::ffff:10.0.0.1 leads to 10.0.0.1, which is in a private network"
    );
}

/// What the standard library knows; our list has to hold at least that.
fn is_plainly_not_public(ip: Ipv4Addr) -> bool {
    ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_broadcast()
        || ip.is_documentation()
        || ip.is_unspecified()
}

proptest! {
    #[test]
    fn whatever_embeds_a_forbidden_address_is_forbidden(bits in any::<u32>()) {
        let ip = Ipv4Addr::from_bits(bits);
        let guard = Guard::default();
        let forbidden = guard.permits(ip.into()).is_err();
        prop_assert!(forbidden || !is_plainly_not_public(ip));
        let [a, b, c, d] = ip.octets().map(u16::from);
        let (high, low) = (a << 8 | b, c << 8 | d);
        let forms = [
            ip.to_ipv6_mapped(),
            ip.to_ipv6_compatible(),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2001, 0, 0x0808, 0x0808, 0, 0, !high, !low),
        ];
        for form in forms {
            prop_assert!(!forbidden || guard.permits(form.into()).is_err(), "{form}");
        }
        prop_assert_eq!(guard.permits(forms[0].into()).is_err(), forbidden);
    }

    #[test]
    fn only_global_unicast_and_embedded_addresses_of_version_six_are_allowed(bits in any::<u128>()) {
        let ip = Ipv6Addr::from_bits(bits);
        if Guard::default().permits(IpAddr::V6(ip)).is_ok() {
            prop_assert!(bits >> 125 == 1 || bits >> 96 == 0 || ip.segments()[0] == 0x64);
        }
    }
}

#[test]
fn addresses_of_a_translated_network_are_judged_by_what_they_lead_to() {
    use wonbon_crawl::guard::Nat64Prefix;
    // 10.1.2.3 and 93.184.215.14 under a prefix of each length (RFC 6052, section 2.2).
    let cases = [
        ("2a00:1450::/32", "2a00:1450:a01:203::", "2a00:1450:5db8:d70e::"),
        ("2a00:1450:100::/40", "2a00:1450:10a:102:3::", "2a00:1450:15d:b8d7:e::"),
        ("2a00:1450:122::/48", "2a00:1450:122:a01:2:300::", "2a00:1450:122:5db8:d7:e00::"),
        ("2a00:1450:122:300::/56", "2a00:1450:122:30a:1:203::", "2a00:1450:122:35d:b8:d70e::"),
        (
            "2a00:1450:122:344::/64",
            "2a00:1450:122:344:a:102:300:0",
            "2a00:1450:122:344:5d:b8d7:e00:0",
        ),
        (
            "2a00:1450:122:344::/96",
            "2a00:1450:122:344::10.1.2.3",
            "2a00:1450:122:344::93.184.215.14",
        ),
        // A prefix of the local network may be named too.
        ("fd00:64::/96", "fd00:64::10.1.2.3", "fd00:64::93.184.215.14"),
    ];
    for (prefix, private, public) in cases {
        let guard = Guard::default().with_nat64(vec![prefix.parse::<Nat64Prefix>().unwrap()]);
        let judge = |text: &str| guard.permits(text.parse().unwrap());
        assert!(
            matches!(
                judge(private),
                Err(Forbidden::Embedded { inner, reason: Private, .. })
                    if inner == Ipv4Addr::new(10, 1, 2, 3)
            ),
            "{prefix}: {:?}",
            judge(private)
        );
        assert_eq!(judge(public), Ok(()), "{prefix}");
        // What has another prefix is translated by nobody.
        assert_eq!(judge("2606:4700::a00:1"), Ok(()), "{prefix}");
    }
    assert!(Guard::default().permits("fd00:64::93.184.215.14".parse().unwrap()).is_err());
    for bad in ["10.0.0.0/8", "fd00::/33", "fd00::/128", "fd00::1", "x"] {
        assert!(bad.parse::<Nat64Prefix>().is_err(), "{bad}");
    }
}
