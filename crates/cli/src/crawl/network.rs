//! The flags of commands that ask servers: which addresses may be asked, and whom to trust.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::Context;
use wonbon_crawl::fetch::FetchLimits;
use wonbon_crawl::fetch::network::{Network, NetworkConfig};
use wonbon_crawl::guard::{Guard, Nat64Prefix};

#[derive(clap::Args)]
pub(crate) struct NetworkArgs {
    /// A network such as 192.168.1.0/24, an address or a host that may be asked although it is not
    /// public.
    #[arg(long, value_name = "NETWORK|HOST")]
    allow_private: Vec<String>,
    /// A prefix whose addresses this network translates to IPv4 addresses, such as
    /// 2001:db8:64::/96: they are judged by these. 64:ff9b::/96 need not be named.
    #[arg(long, value_name = "PREFIX")]
    nat64: Vec<Nat64Prefix>,
    /// Take this address for a host instead of asking for it: example.org:192.0.2.1.
    #[arg(long, value_name = "HOST:ADDRESS", value_parser = name_and_address)]
    resolve: Vec<(String, IpAddr)>,
    /// Certificates to trust beside the usual ones, as PEM.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

fn name_and_address(text: &str) -> Result<(String, IpAddr), String> {
    text.split_once(':')
        .and_then(|(host, address)| {
            let address = address.trim_start_matches('[').trim_end_matches(']');
            Some((host.to_ascii_lowercase(), address.parse().ok()?))
        })
        .ok_or_else(|| "write a host and an address, such as example.org:192.0.2.1".to_owned())
}

impl NetworkArgs {
    /// The network as far as the flags let it be asked.
    pub(crate) fn open(&self, agent: &str, limits: FetchLimits) -> anyhow::Result<Network> {
        let mut names: HashMap<String, Vec<IpAddr>> = HashMap::new();
        for (host, address) in &self.resolve {
            names.entry(host.clone()).or_default().push(*address);
        }
        let guard =
            Guard::allowing(&self.allow_private, &names).context("--allow-private is wrong")?;
        let config = NetworkConfig {
            agent: agent.to_owned(),
            limits,
            guard: guard.with_nat64(self.nat64.clone()),
            names,
            certificates: self.ca_file.clone(),
        };
        Ok(Network::new(config)?)
    }
}
