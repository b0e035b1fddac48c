//! Addresses of PostgreSQL, as people paste them.
//!
//! `postgres://USER:PASSWORD@HOST:PORT,HOST2/DATABASE?sslmode=verify-full&sslrootcert=FILE`, with the parameters that libpq
//! documents, its environment variables for what is missing, and two of our own: `schema`, where the tables are (`wonbon`
//! unless said), and `derived`, a folder on this machine for what a process derives from them. The driver knows neither `sslrootcert` nor the modes of `sslmode` that verify, so these are read here.
//!
//! Guarantee: what is displayed or told in an error never has the password.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts, SslMode};
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};

use crate::error::StoreError;

/// The parameters that are handed to the driver as they are.
const DRIVERS: [&str; 16] = [
    "user",
    "password",
    "dbname",
    "options",
    "application_name",
    "hostaddr",
    "port",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
];

/// Whether a connection is encrypted.
#[derive(Clone)]
pub(super) enum Tls {
    Off,
    On(Arc<ClientConfig>),
}

/// Where a store is.
#[derive(Clone)]
pub(crate) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// The schema of the tables; letters, digits and `_`.
    pub(super) schema: String,
    /// Below which folder a process keeps what it derives.
    pub(crate) derived: Option<PathBuf>,
}

/// Without the password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        let ports = self.config.get_ports();
        for (at, host) in self.config.get_hosts().iter().enumerate() {
            let separator = if at > 0 { "," } else { "" };
            match host {
                Host::Tcp(name) => write!(f, "{separator}{name}")?,
                Host::Unix(path) => write!(f, "{separator}{}", path.display())?,
            }
            if let Some(port) = ports.get(at).or(ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())?;
        if self.schema != DEFAULT_SCHEMA {
            write!(f, "?schema={}", self.schema)?;
        }
        Ok(())
    }
}

const DEFAULT_SCHEMA: &str = "wonbon";

/// Whether this names a store in a PostgreSQL, and not a directory.
pub(crate) fn is_address(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

fn bad(what: impl Into<String>) -> StoreError {
    StoreError::BadAddress { what: what.into() }
}

impl Address {
    /// Reads an address; what it does not say comes from libpq's variables.
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        Self::parse_with(text, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn parse_with(
        text: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, StoreError> {
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let mut schema = DEFAULT_SCHEMA.to_owned();
        let mut derived = variable("WONBON_DERIVED").map(PathBuf::from);
        let (mut mode, mut root) = (variable("PGSSLMODE"), variable("PGSSLROOTCERT"));
        let (mut kept, mut hosts) = (Vec::new(), Vec::new());
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| bad(format!("the parameter {part} has no value")))?;
            let decoded = || decode(value).ok_or_else(|| bad(format!("{name} is not UTF-8")));
            match name {
                "schema" => schema = decoded()?,
                "derived" => derived = Some(decoded()?.into()),
                "sslmode" => mode = Some(decoded()?),
                "sslrootcert" => root = Some(decoded()?),
                // The driver takes several for one.
                "host" => hosts = decoded()?.split(',').map(str::to_owned).collect(),
                _ if DRIVERS.contains(&name) => kept.push(part),
                _ => return Err(bad(format!("{name} is no parameter that is known here"))),
            }
        }
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if schema.is_empty() || schema.len() > 63 || !schema.chars().all(is_plain) {
            return Err(bad("a schema has up to 63 small letters, digits and `_`"));
        }
        let rest = match kept.is_empty() {
            true => base.to_owned(),
            false => format!("{base}?{}", kept.join("&")),
        };
        // The driver's words could quote the password.
        let mut config: Config = rest.parse().map_err(|_| {
            bad("write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with % before hexadecimal \
                 digits for special characters")
        })?;
        for host in hosts {
            config.host(host);
        }
        complete(&mut config, &variable)?;
        let tls = tls(&mut config, mode.as_deref().unwrap_or("prefer"), root.as_deref())?;
        Ok(Address { config, tls, schema, derived })
    }

    /// What connects to each host alone, in the order in which they are to be tried: the driver gives a silent host as long as
    /// all of them.
    pub(super) fn hosts(&self) -> Vec<Config> {
        let (hosts, addresses, ports) =
            (self.config.get_hosts(), self.config.get_hostaddrs(), self.config.get_ports());
        let number = hosts.len().max(addresses.len());
        if number < 2
            || self.config.get_load_balance_hosts() == LoadBalanceHosts::Random
            // Lists that do not fit are refused by the driver, with its words.
            || (!hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len())
            || (ports.len() > 1 && ports.len() != number)
        {
            return vec![self.config.clone()];
        }
        let one = |at: usize| {
            let mut one = self.without_hosts();
            match hosts.get(at) {
                Some(Host::Tcp(name)) => drop(one.host(name)),
                Some(Host::Unix(path)) => drop(one.host_path(path)),
                None => {}
            }
            if let Some(address) = addresses.get(at) {
                one.hostaddr(*address);
            }
            if let Some(port) = ports.get(at).or(ports.first()) {
                one.port(*port);
            }
            one
        };
        (0..number).map(one).collect()
    }

    /// Everything but where it is.
    fn without_hosts(&self) -> Config {
        let (from, mut one) = (&self.config, Config::new());
        if let Some(user) = from.get_user() {
            one.user(user);
        }
        if let Some(password) = from.get_password() {
            one.password(password);
        }
        if let Some(name) = from.get_dbname() {
            one.dbname(name);
        }
        if let Some(options) = from.get_options() {
            one.options(options);
        }
        if let Some(name) = from.get_application_name() {
            one.application_name(name);
        }
        if let Some(timeout) = from.get_connect_timeout() {
            one.connect_timeout(*timeout);
        }
        one.ssl_mode(from.get_ssl_mode())
            .keepalives(from.get_keepalives())
            .target_session_attrs(from.get_target_session_attrs())
            .channel_binding(from.get_channel_binding());
        one
    }
}

/// What is behind the `%` of an address.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// Takes what is missing from libpq's variables and defaults.
fn complete(
    config: &mut Config,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<(), StoreError> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let hosts = variable("PGHOST").unwrap_or_else(|| "/var/run/postgresql".to_owned());
        for host in hosts.split(',') {
            config.host(host);
        }
    }
    if config.get_ports().is_empty()
        && let Some(ports) = variable("PGPORT")
    {
        for port in ports.split(',') {
            config.port(port.trim().parse().map_err(|_| bad("PGPORT is no port"))?);
        }
    }
    if config.get_user().is_none()
        && let Some(user) = variable("PGUSER").or_else(|| variable("USER"))
    {
        config.user(user);
    }
    if config.get_password().is_none()
        && let Some(password) = variable("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_dbname().is_none()
        && let Some(name) = variable("PGDATABASE").or_else(|| config.get_user().map(str::to_owned))
    {
        config.dbname(name);
    }
    if config.get_application_name().is_none() {
        config.application_name(variable("PGAPPNAME").unwrap_or_else(|| "wonbon".to_owned()));
    }
    Ok(())
}

/// How libpq's modes are meant: only `verify-ca` and `verify-full` look at the server's certificate, and `require` does
/// if there is a root certificate. `verify-ca` looks at the name too.
fn tls(config: &mut Config, mode: &str, root: Option<&str>) -> Result<Tls, StoreError> {
    let (driver, verified) = match mode {
        "disable" => {
            config.ssl_mode(SslMode::Disable);
            return Ok(Tls::Off);
        }
        "allow" | "prefer" => (SslMode::Prefer, false),
        "require" => (SslMode::Require, root.is_some()),
        "verify-ca" | "verify-full" => (SslMode::Require, true),
        _ => return Err(bad(format!("{mode} is no sslmode"))),
    };
    config.ssl_mode(driver);
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| bad(error.to_string()))?;
    let client = match verified {
        false => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth(),
        true => builder.with_root_certificates(roots(root)?).with_no_client_auth(),
    };
    Ok(Tls::On(Arc::new(client)))
}

/// The certificates of this file; of libpq's usual file, if there is one; or those of browsers.
fn roots(path: Option<&str>) -> Result<RootCertStore, StoreError> {
    let usual = || {
        let home = std::env::var_os("HOME")?;
        Some(PathBuf::from(home).join(".postgresql/root.crt")).filter(|path| path.exists())
    };
    let path = match path {
        Some("system") => None,
        Some(path) => Some(PathBuf::from(path)),
        None => usual(),
    };
    let mut roots = RootCertStore::empty();
    let Some(path) = path else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(roots);
    };
    let unreadable = || bad(format!("{} has no certificate that can be read", path.display()));
    for certificate in CertificateDer::pem_file_iter(&path).map_err(|_| unreadable())? {
        roots.add(certificate.map_err(|_| unreadable())?).map_err(|_| unreadable())?;
    }
    match roots.is_empty() {
        true => Err(unreadable()),
        false => Ok(roots),
    }
}

/// Takes any certificate, as libpq does under `prefer` and `require`: against who listens, not against who pretends.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Address, StoreError> {
        Address::parse_with(text, |_| None)
    }

    #[test]
    fn addresses_are_read_as_libpq_reads_them_and_shown_without_the_password() {
        let text = "postgresql://me:s%40cret@one:5433,two/blog?sslmode=disable\
                    &target_session_attrs=read-write&schema=copies";
        let address = parse(text).unwrap();
        assert_eq!(address.schema, "copies");
        assert!(matches!(address.tls, Tls::Off));
        assert_eq!(address.config.get_password(), Some("s@cret".as_bytes()));
        assert_eq!(address.config.get_hosts().len(), 2);
        let shown = address.to_string();
        assert!(shown.starts_with("postgres://me@one:5433,two:"), "{shown}");
        assert!(shown.ends_with("/blog?schema=copies") && !shown.contains("cret"), "{shown}");
    }

    #[test]
    fn every_host_is_tried_with_its_own_port_and_all_that_is_said_of_the_others() {
        let text = "postgresql://me:s%40cret@one:5433,two:5434/blog?target_session_attrs=read-write\
                    &connect_timeout=3&application_name=a&options=-c%20jit%3Doff&channel_binding=disable";
        let address = parse(text).unwrap();
        let hosts = address.hosts();
        let found: Vec<_> =
            hosts.iter().map(|one| (one.get_hosts().to_vec(), one.get_ports().to_vec())).collect();
        let host = |name: &str, port: u16| (vec![Host::Tcp(name.to_owned())], vec![port]);
        assert_eq!(found, [host("one", 5433), host("two", 5434)]);
        for one in &hosts {
            let whole = &address.config;
            assert_eq!(one.get_target_session_attrs(), whole.get_target_session_attrs());
            assert_eq!(one.get_connect_timeout(), whole.get_connect_timeout());
            assert_eq!(one.get_channel_binding(), whole.get_channel_binding());
            assert_eq!(one.get_password(), whole.get_password());
            assert_eq!(one.get_options(), whole.get_options());
            assert_eq!(one.get_application_name(), whole.get_application_name());
            assert_eq!((one.get_user(), one.get_dbname()), (whole.get_user(), whole.get_dbname()));
        }
        assert_eq!(parse("postgres://me@one/blog").unwrap().hosts().len(), 1);
        // Sockets and names as a parameter, one or several.
        let sockets = parse("postgres://me@/blog?host=%2Frun%2Fone,two%2C%2Frun%2Fthree").unwrap();
        let unix = |path: &str| Host::Unix(path.into());
        let expected = [unix("/run/one"), Host::Tcp("two".to_owned()), unix("/run/three")];
        assert_eq!(sockets.config.get_hosts(), expected);
        let hosts = sockets.hosts();
        let each: Vec<_> = hosts.iter().flat_map(|one| one.get_hosts().to_vec()).collect();
        assert_eq!(each, expected);
    }

    #[test]
    fn what_is_missing_comes_from_the_variables() {
        let address = Address::parse_with("postgres://", |name| {
            let value = match name {
                "PGHOST" => "db.example",
                "PGPORT" => "6000",
                "PGUSER" => "blog",
                "PGPASSWORD" => "hidden",
                "PGSSLMODE" => "disable",
                _ => return None,
            };
            Some(value.to_owned())
        });
        let address = address.unwrap();
        assert_eq!(address.to_string(), "postgres://blog@db.example:6000/blog");
        assert_eq!(address.config.get_password(), Some("hidden".as_bytes()));
    }

    #[test]
    fn what_cannot_be_an_address_is_refused_without_the_password() {
        for text in [
            "postgres://me:secret@host/db?sslmod=require",
            "postgres://me:secret@host/db?sslmode=perhaps",
            "postgres://me:secret@host/db?schema=a%22b",
            "postgres://me:secret@host:port/db",
            "postgres://me:secret@host/db?sslmode=verify-full&sslrootcert=/nowhere",
        ] {
            let error = parse(text).err().expect(text).to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
