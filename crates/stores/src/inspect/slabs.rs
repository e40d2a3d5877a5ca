//! The slab classes: memory is cut into pages, a page into chunks of one size, and an item lies
//! in the smallest chunk that it fits in.

use super::connect;
use crate::probe::memcached::Connection;
use roundtrip_model::Result;
use roundtrip_model::contract::Endpoint;
use serde::Serialize;
use std::collections::BTreeMap;

/// Every slab class that has memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlabTable {
    /// The classes, by number.
    pub classes: Vec<SlabClass>,
}

/// One slab class. What the server does not tell is `None`: it tells little of a class without
/// items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlabClass {
    /// Its number.
    pub class: u32,
    /// The size of its chunks: the largest item that it takes, with key and header.
    pub item_size_bytes: u64,
    /// How long ago its oldest item was used.
    pub max_age_s: Option<u64>,
    /// Its pages.
    pub pages: u64,
    /// Its items.
    pub count: u64,
    /// Whether every chunk is in use: the next item needs a new page or throws another one out.
    pub full: bool,
    /// Items thrown away for want of memory.
    pub evicted: Option<u64>,
    /// How long the last item thrown away had not been used.
    pub evict_time_s: Option<u64>,
    /// Writes refused for want of memory.
    pub oom: Option<u64>,
}

/// Reads the slab classes.
pub fn display(address: &Endpoint) -> Result<SlabTable> {
    read(&mut connect(address)?)
}

pub(super) fn read(connection: &mut Connection) -> Result<SlabTable> {
    let items = connection.stats("items")?;
    let slabs = connection.stats("slabs")?;
    Ok(table(&items, &slabs))
}

fn table(items: &BTreeMap<String, String>, slabs: &BTreeMap<String, String>) -> SlabTable {
    let mut numbers: Vec<u32> = slabs
        .keys()
        .filter_map(|name| name.strip_suffix(":chunk_size")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    let number = |stats: &BTreeMap<String, String>, name: String| stats.get(&name)?.parse().ok();
    let classes = numbers.into_iter().filter_map(|class| {
        let slab = |name: &str| -> Option<u64> { number(slabs, format!("{class}:{name}")) };
        let item = |name: &str| -> Option<u64> { number(items, format!("items:{class}:{name}")) };
        let pages = slab("total_pages").filter(|pages| *pages > 0)?;
        // Before 1.4.14 the chunks that were never used stood apart.
        let free = slab("free_chunks").unwrap_or(0) + slab("free_chunks_end").unwrap_or(0);
        Some(SlabClass {
            class,
            item_size_bytes: slab("chunk_size")?,
            max_age_s: item("age"),
            pages,
            count: item("number").unwrap_or(0),
            full: free == 0,
            evicted: item("evicted"),
            evict_time_s: item("evicted_time"),
            oom: item("outofmemory"),
        })
    });
    SlabTable {
        classes: classes.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(lines: &[(&str, &str)]) -> BTreeMap<String, String> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        lines.iter().map(own).collect()
    }

    #[test]
    fn a_table_joins_what_is_told_of_items_and_of_slabs() {
        let items = stats(&[
            ("items:2:number", "7"),
            ("items:2:age", "60"),
            ("items:2:evicted", "3"),
            ("items:2:evicted_time", "9"),
            ("items:2:outofmemory", "1"),
        ]);
        let slabs = stats(&[
            ("10:chunk_size", "944"),
            ("10:total_pages", "1"),
            ("10:free_chunks", "5"),
            ("2:chunk_size", "120"),
            ("2:total_pages", "4"),
            ("2:free_chunks", "0"),
            ("2:free_chunks_end", "0"),
            ("3:chunk_size", "152"),
            ("3:total_pages", "0"),
            ("active_slabs", "2"),
        ]);
        let classes = table(&items, &slabs).classes;
        assert_eq!(
            classes[0],
            SlabClass {
                class: 2,
                item_size_bytes: 120,
                max_age_s: Some(60),
                pages: 4,
                count: 7,
                full: true,
                evicted: Some(3),
                evict_time_s: Some(9),
                oom: Some(1),
            }
        );
        assert_eq!((classes[1].class, classes[1].full), (10, false));
        assert_eq!((classes[1].count, classes[1].evicted), (0, None));
        assert_eq!(classes.len(), 2);
    }
}
