//! A browser that does what it is told: Debian's Chromium, headless, over chromedriver.
//!
//! Why a client of our own: what the tests need of WebDriver is a dozen calls of JSON over loopback, one
//! after the other. The ready-made clients are asynchronous and bring an HTTP stack with TLS.
//!
//! chromedriver listens on a port it chose and tells on its standard output. Session and process end with
//! the value. What WebDriver has no word for (a phone's width, dark, a language, no script) goes to
//! Chromium itself, which chromedriver hands on.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// WebDriver's name for the value that stands for an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A running browser.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    connection: RefCell<Option<BufReader<TcpStream>>>,
}

/// An element of the page that is open.
pub(crate) struct Element<'a> {
    browser: &'a Browser,
    selector: String,
    id: RefCell<String>,
}

/// The directory of the tools that are fetched for tests, and whether they have to be there:
/// `scripts/test.sh` names it, and then what is missing is a failure.
pub(crate) fn tools() -> (PathBuf, bool) {
    match std::env::var_os("WONBON_TOOLS") {
        Some(directory) => (directory.into(), true),
        None => (concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools").into(), false),
    }
}

/// Says that a test was skipped, where that is allowed.
pub(crate) fn skipped(what: &str) {
    assert!(!tools().1, "{what}");
    eprintln!("skipped: {what}");
}

impl Browser {
    /// Starts one, where there is one.
    pub(crate) fn start() -> Option<Browser> {
        let started = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut driver = match started {
            Ok(driver) => driver,
            Err(error) => {
                skipped(&format!("there is no chromedriver ({error})"));
                return None;
            }
        };
        let mut told = BufReader::new(driver.stdout.take().unwrap());
        let mut line = String::new();
        let port = loop {
            line.clear();
            assert!(told.read_line(&mut line).unwrap() > 0, "chromedriver told no port");
            if let Some((_, port)) = line.trim().split_once("successfully on port ") {
                break port.trim_end_matches('.').parse().unwrap();
            }
        };
        let connection = RefCell::new(None);
        let mut browser = Browser { driver, port, session: String::new(), connection };
        // A test's browser meets only what the test serves, and may have to run as root.
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
        ];
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "unhandledPromptBehavior": "ignore",
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": arguments},
        }}});
        let session = browser.send("POST", "/session", &capabilities);
        browser.session = match session {
            Ok(session) => session["sessionId"].as_str().unwrap().to_owned(),
            Err(error) => {
                skipped(&format!("chromedriver has no browser ({error})"));
                return None;
            }
        };
        browser.chromium("Network.enable", json!({}));
        Some(browser)
    }

    /// One request and what it gave.
    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        let mut kept = self.connection.borrow_mut();
        let connection = match &mut *kept {
            Some(connection) => connection,
            none => {
                let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                none.insert(BufReader::new(stream))
            }
        };
        connection.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            assert!(connection.read_line(&mut line).unwrap() > 0, "chromedriver went away");
            match line.trim().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap();
                }
                None if line.trim().is_empty() => break,
                _ => {}
            }
        }
        let mut bytes = vec![0; length];
        connection.read_exact(&mut bytes).unwrap();
        let mut answer: Value = serde_json::from_slice(&bytes).unwrap();
        let value = answer["value"].take();
        if value.get("error").is_some_and(Value::is_string) { Err(value) } else { Ok(value) }
    }

    fn try_call(&self, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
        self.send(method, &format!("/session/{}{path}", self.session), body)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        self.try_call(method, path, body)
            .unwrap_or_else(|error| panic!("{method} {path} {body}: {error}"))
    }

    /// Tells Chromium itself something.
    pub(crate) fn chromium(&self, command: &str, parameters: Value) -> Value {
        let body = json!({"cmd": command, "params": parameters});
        self.call("POST", "/goog/cdp/execute", &body)
    }

    /// Opens an address and waits until it is loaded.
    pub(crate) fn open(&self, address: &str) {
        self.call("POST", "/url", &json!({"url": address}));
    }

    /// The address of the page that is open.
    pub(crate) fn address(&self) -> String {
        self.call("GET", "/url", &Value::Null).as_str().unwrap().to_owned()
    }

    /// Runs a script in the page and tells what it returns, or what its promise comes to.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The element that a selector finds first.
    pub(crate) fn find(&self, selector: &str) -> Element<'_> {
        let id = RefCell::new(self.id_of(selector));
        Element { browser: self, selector: selector.to_owned(), id }
    }

    fn id_of(&self, selector: &str) -> String {
        let body = json!({"using": "css selector", "value": selector});
        let found = self.call("POST", "/element", &body);
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// How many elements a selector finds.
    pub(crate) fn count(&self, selector: &str) -> usize {
        let body = json!({"using": "css selector", "value": selector});
        self.call("POST", "/elements", &body).as_array().unwrap().len()
    }

    /// The visible text of the element that a selector finds first.
    pub(crate) fn text(&self, selector: &str) -> String {
        self.find(selector).text()
    }

    /// Presses keys, whatever has the focus.
    pub(crate) fn press(&self, keys: &str) {
        let steps: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
            })
            .collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": steps});
        self.call("POST", "/actions", &json!({"actions": [keyboard]}));
    }

    /// Waits until a script says yes. A page that is just left says nothing.
    pub(crate) fn wait_until(&self, script: &str) {
        let (begun, body) = (Instant::now(), json!({"script": script, "args": []}));
        loop {
            let said = self.try_call("POST", "/execute/sync", &body);
            if said == Ok(Value::Bool(true)) {
                return;
            }
            let at = self.address();
            assert!(begun.elapsed() < PATIENCE, "it never came to {script} at {at}: {said:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What the console was told since it was last asked.
    pub(crate) fn console(&self) -> Vec<Value> {
        let told = self.call("POST", "/se/log", &json!({"type": "browser"}));
        told.as_array().unwrap().clone()
    }

    /// Forgets all cookies of the page's site.
    pub(crate) fn forget_cookies(&self) {
        self.call("DELETE", "/cookie", &Value::Null);
    }

    /// How wide and high the page is shown; narrow ones as on a phone.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let parameters = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600
        });
        self.chromium("Emulation.setDeviceMetricsOverride", parameters);
    }

    /// What the system says of light and dark.
    pub(crate) fn prefer(&self, scheme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.chromium("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    /// Which language the browser asks for.
    pub(crate) fn speak(&self, language: &str) {
        let headers = json!({"headers": {"accept-language": language}});
        self.chromium("Network.setExtraHTTPHeaders", headers);
    }

    /// Whether pages may run their scripts; those of the test run all the same.
    pub(crate) fn let_scripts_run(&self, may: bool) {
        self.chromium("Emulation.setScriptExecutionDisabled", json!({"value": !may}));
    }

    /// A picture of the page, whole or what fits into the window; base64.
    pub(crate) fn picture(&self, whole: bool) -> String {
        let parameters = json!({"format": "png", "captureBeyondViewport": whole});
        self.chromium("Page.captureScreenshot", parameters)["data"].as_str().unwrap().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            // A test that panicked may have left an answer unread: on a connection of its own.
            self.connection.replace(None);
            let _ = self.try_call("DELETE", "", &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Element<'_> {
    /// Asks of it. A page that changes in place may have put another into its place: then of that one.
    fn call(&self, method: &str, what: &str, body: &Value) -> Value {
        let begun = Instant::now();
        loop {
            let path = format!("/element/{}/{what}", self.id.borrow());
            match self.browser.try_call(method, &path, body) {
                Ok(value) => return value,
                Err(error) => {
                    let gone = error["error"] == "stale element reference";
                    let selector = &self.selector;
                    assert!(gone && begun.elapsed() < PATIENCE, "{what} of {selector}: {error}");
                    self.id.replace(self.browser.id_of(selector));
                }
            }
        }
    }

    /// Clicks on it.
    pub(crate) fn click(&self) {
        self.call("POST", "click", &json!({}));
    }

    /// Clicks on what leads to another page, or to the same once more, and waits until that is loaded.
    pub(crate) fn follow(&self) {
        self.browser.run("window.left = true;");
        self.click();
        self.browser.wait_until("return !window.left && document.readyState === 'complete';");
    }

    /// Types into it.
    pub(crate) fn write(&self, text: &str) {
        self.call("POST", "value", &json!({"text": text}));
    }

    /// Empties a field.
    pub(crate) fn clear(&self) {
        self.call("POST", "clear", &json!({}));
    }

    /// Its visible text.
    pub(crate) fn text(&self) -> String {
        self.call("GET", "text", &Value::Null).as_str().unwrap().to_owned()
    }

    /// Whether it can be seen.
    pub(crate) fn is_shown(&self) -> bool {
        self.call("GET", "displayed", &Value::Null) == Value::Bool(true)
    }
}
