//! The three sets of pages with their true texts, from the archives or from unpacked folders.

use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// A page and what a person took for its core text.
pub struct Sample {
    pub name: String,
    pub url: Option<String>,
    pub kind: String,
    pub bytes: Vec<u8>,
    pub gold: String,
}

/// A named set of pages.
pub struct Set {
    pub name: &'static str,
    pub samples: Vec<Sample>,
}

/// Reads the WCXB pages of both archives.
pub fn wcxb(folder: &Path) -> Result<Vec<Sample>> {
    let mut samples = read_wcxb(&unpack(folder, "wcxb-dev.tar.zst")?)?;
    samples.extend(read_wcxb(&unpack(folder, "wcxb-dev-more.tar.zst")?)?);
    Ok(sorted(samples))
}

/// Reads the archives that are in `folder`.
pub fn load(folder: &Path) -> Result<Vec<Set>> {
    let zyte = unpack(folder, "scrapinghub-article-181.tar.xz")?;
    let cleaneval = unpack(folder, "cleaneval-dev.tar.zst")?;
    Ok(vec![
        Set { name: "WCXB", samples: wcxb(folder)? },
        Set { name: "Zyte", samples: read_zyte(&zyte)? },
        Set { name: "CleanEval", samples: read_cleaneval(&cleaneval)? },
    ])
}

type Files = HashMap<String, Vec<u8>>;

fn unpack(folder: &Path, name: &str) -> Result<Files> {
    let path = folder.join(name);
    let file = std::fs::File::open(&path).with_context(|| format!("opening {}", path.display()))?;
    let mut file = BufReader::new(file);
    let mut plain = Vec::new();
    if name.ends_with(".zst") {
        let mut decoder = zstd::Decoder::new(file)?;
        decoder.window_log_max(27)?;
        decoder.read_to_end(&mut plain)?;
    } else {
        lzma_rs::xz_decompress(&mut file, &mut plain)
            .map_err(|error| anyhow::anyhow!("{name}: {error:?}"))?;
    }
    let mut files = Files::new();
    for entry in tar::Archive::new(plain.as_slice()).entries()? {
        let mut entry = entry?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path()?.to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        files.insert(path.trim_start_matches("./").to_owned(), bytes);
    }
    if files.is_empty() {
        bail!("{name} holds no files");
    }
    Ok(files)
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

fn sorted(mut samples: Vec<Sample>) -> Vec<Sample> {
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    samples
}

fn read_wcxb(files: &Files) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| path.ends_with(".json")) {
        let truth: serde_json::Value = serde_json::from_slice(bytes).context(path.clone())?;
        let html = format!("html/{}.html", stem(path));
        let Some(page) = files.get(&html) else { bail!("{path} has no page {html}") };
        samples.push(Sample {
            name: stem(path).to_owned(),
            url: truth["url"].as_str().map(str::to_owned),
            kind: truth["_internal"]["page_type"]["primary"].as_str().unwrap_or("?").to_owned(),
            bytes: page.clone(),
            gold: truth["ground_truth"]["main_content"].as_str().unwrap_or("").to_owned(),
        });
    }
    Ok(sorted(samples))
}

fn read_zyte(files: &Files) -> Result<Vec<Sample>> {
    let truth: HashMap<String, serde_json::Value> =
        serde_json::from_slice(files.get("ground-truth.json").context("ground-truth.json")?)?;
    let mut samples = Vec::new();
    for (name, truth) in truth {
        let packed = files.get(&format!("html/{name}.html.gz")).context("page")?;
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes)?;
        samples.push(Sample {
            url: truth["url"].as_str().map(str::to_owned),
            kind: "article".to_owned(),
            bytes,
            gold: truth["articleBody"].as_str().unwrap_or("").to_owned(),
            name,
        });
    }
    Ok(sorted(samples))
}

fn read_cleaneval(files: &Files) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for (path, bytes) in files.iter().filter(|(path, _)| path.ends_with(".html")) {
        let name = stem(path).to_owned();
        let gold = files
            .iter()
            .find(|(gold, _)| {
                !gold.ends_with(".html") && stem(gold).trim_end_matches("-cleaned") == name
            })
            .with_context(|| format!("{path} has no gold text"))?;
        let gold = String::from_utf8_lossy(gold.1);
        // The address in front and the <p>, <h>, <l> marks are not text.
        let mut text = String::new();
        for line in gold.trim_start().trim_start_matches("URL:").trim_start().lines().skip(1) {
            let line = line.trim();
            let line =
                ["<p>", "<h>", "<l>"].iter().fold(line, |l, mark| l.trim_start_matches(mark));
            text.push_str(line);
            text.push('\n');
        }
        samples.push(Sample {
            name,
            url: None,
            kind: "web".to_owned(),
            bytes: bytes.clone(),
            gold: text,
        });
    }
    Ok(sorted(samples))
}
