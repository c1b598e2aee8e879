//! What `cuda_std` offers: its public items, as rustdoc sees them.

use std::collections::{BTreeMap, HashSet};

use rustdoc_types::{Attribute, Crate, Id, Impl, Item, ItemEnum, MacroKind, Use, Visibility};

use super::floor::floor;

/// A public item of `cuda_std`.
pub(super) struct Entry {
    /// Its name within its module: `warp_reduce_sum`, `Atomic::fetch_add`.
    pub(super) name: String,
    /// How a test shows that it uses it.
    pub(super) sought: Sought,
    /// The lowest PTX ISA version and GPU that have it, where its documentation or that of what it belongs to says so.
    pub(super) floor: Option<String>,
}

/// How to find the uses of an item.
pub(super) enum Sought {
    /// By its path where it is defined, in the names of compiled functions.
    Compiled(String),
    /// By a text in the tests' source: what leaves no name in the compiled code.
    Written(String),
}

/// The items of each module, by its public path. Modules that have none are left out, and so are the items that the prelude or the
/// crate's root show again.
pub(super) fn of_crate(documentation: &Crate) -> BTreeMap<String, Vec<Entry>> {
    let mut walk = Walk { documentation, modules: BTreeMap::new(), seen: HashSet::new() };
    // Where an item is shown more than once, it belongs to the module that it is written about in.
    walk.module(documentation.root, "cuda_std", None, &|path| path != "cuda_std::prelude");
    walk.module(documentation.root, "cuda_std", None, &|path| path == "cuda_std::prelude");
    walk.modules
}

/// Adds the macros of `cuda_std_macros`, which the crate's root shows.
pub(super) fn add_macros(documentation: &Crate, modules: &mut BTreeMap<String, Vec<Entry>>) {
    let mut entries = Vec::new();
    for item in documentation.index.values().filter(|item| !is_hidden(item)) {
        let (ItemEnum::ProcMacro(inner), Some(name)) = (&item.inner, &item.name) else { continue };
        let (name, text) = match inner.kind {
            MacroKind::Bang => (format!("{name}!"), format!("{name}!")),
            MacroKind::Attr => (format!("#[{name}]"), format!("#[{name}")),
            MacroKind::Derive => (format!("#[derive({name})]"), name.clone()),
        };
        // What an attribute's options need is not what it needs.
        entries.push(Entry { name, sought: Sought::Written(text), floor: None });
    }
    modules.entry("cuda_std".to_owned()).or_default().extend(entries);
}

struct Walk<'a> {
    documentation: &'a Crate,
    modules: BTreeMap<String, Vec<Entry>>,
    seen: HashSet<Id>,
}

/// A floor that what an item belongs to has.
type Inherited<'a> = Option<&'a str>;

impl<'a> Walk<'a> {
    fn item(&self, id: Id) -> Option<&'a Item> {
        self.documentation.index.get(&id).filter(|item| !is_hidden(item))
    }

    /// The path at which an item is defined, private modules included.
    fn defined_at(&self, id: Id) -> Option<String> {
        self.documentation.paths.get(&id).map(|summary| summary.path.join("::"))
    }

    /// The items of a module and of those below it that are `wanted`; modules first, so that items which parents show again are
    /// found where they are.
    fn module(&mut self, id: Id, path: &str, floor: Inherited<'_>, wanted: &dyn Fn(&str) -> bool) {
        let Some(Item { inner: ItemEnum::Module(module), .. }) = self.item(id) else { return };
        let (inner, outer): (Vec<Id>, Vec<Id>) = module.items.iter().partition(|id| {
            matches!(self.item(**id), Some(Item { inner: ItemEnum::Module(_), .. }))
        });
        for id in inner {
            let Some(item) = self.item(id) else { continue };
            let path = format!("{path}::{}", item.name.as_deref().unwrap_or_default());
            if wanted(&path) {
                let own = own_floor(item, floor);
                self.module(id, &path, own.as_deref(), wanted);
            }
        }
        if wanted(path) {
            for id in outer {
                self.shown(id, path, floor);
            }
        }
    }

    /// An item that a module has or shows.
    fn shown(&mut self, id: Id, module: &str, floor: Inherited<'_>) {
        let Some(item) = self.item(id) else { return };
        match &item.inner {
            ItemEnum::Use(shown) => self.shown_again(id, shown, module, floor),
            _ => self.own(id, item, module, item.name.as_deref().unwrap_or_default(), floor),
        }
    }

    fn shown_again(&mut self, id: Id, shown: &Use, module: &str, floor: Inherited<'_>) {
        let target = shown.id.and_then(|id| self.item(id).map(|item| (id, item)));
        match target {
            Some((_, Item { inner: ItemEnum::Module(target), .. })) if shown.is_glob => {
                for &id in &target.items {
                    self.shown(id, module, floor);
                }
            }
            Some((_, Item { inner: ItemEnum::Module(_), .. })) => {}
            Some((id, item)) if item.crate_id == self.item_crate() => {
                self.own(id, item, module, &shown.name, floor);
            }
            // Another crate's macros: see `add_macros`.
            None if shown.is_glob => {}
            // Another crate's.
            _ if self.seen.insert(id) && !self.has(&shown.name) => {
                let word = shown.name.clone();
                self.add(
                    module,
                    Entry { name: word.clone(), sought: Sought::Written(word), floor: None },
                );
            }
            _ => {}
        }
    }

    fn item_crate(&self) -> u32 {
        self.documentation.index[&self.documentation.root].crate_id
    }

    /// Whether any module has an entry of this name.
    fn has(&self, name: &str) -> bool {
        self.modules.values().flatten().any(|entry| entry.name == name)
    }

    fn add(&mut self, module: &str, entry: Entry) {
        self.modules.entry(module.to_owned()).or_default().push(entry);
    }

    /// An item of this crate, and what belongs to it.
    fn own(&mut self, id: Id, item: &'a Item, module: &str, name: &str, floor: Inherited<'_>) {
        if !self.seen.insert(id) {
            return;
        }
        let own = own_floor(item, floor);
        let sought = match &item.inner {
            ItemEnum::Macro(_) => Sought::Written(format!("{name}!")),
            // A bound, which leaves no name in the functions that have it.
            ItemEnum::Trait(inner) if !self.has_functions(&inner.items) => {
                Sought::Written(name.to_owned())
            }
            ItemEnum::TypeAlias(_) | ItemEnum::Constant { .. } | ItemEnum::Static(_) => {
                Sought::Written(name.to_owned())
            }
            _ => match self.defined_at(id) {
                Some(path) => Sought::Compiled(path),
                None => Sought::Written(name.to_owned()),
            },
        };
        let parent = self.defined_at(id);
        self.add(module, Entry { name: name.to_owned(), sought, floor: own.clone() });
        let Some(parent) = parent else { return };
        let members: Vec<Id> = match &item.inner {
            ItemEnum::Struct(inner) => self.inherent(&inner.impls),
            ItemEnum::Enum(inner) => self.inherent(&inner.impls),
            ItemEnum::Union(inner) => self.inherent(&inner.impls),
            ItemEnum::Trait(inner) => inner.items.clone(),
            _ => Vec::new(),
        };
        for id in members {
            let Some(member) = self.item(id) else { continue };
            let public = matches!(member.visibility, Visibility::Public | Visibility::Default);
            let member_name = member.name.as_deref().unwrap_or_default();
            let sought = match member.inner {
                ItemEnum::Function(_) if public => {
                    Sought::Compiled(format!("{parent}::{member_name}"))
                }
                ItemEnum::AssocConst { .. } if public => Sought::Written(member_name.to_owned()),
                _ => continue,
            };
            if self.seen.insert(id) {
                let floor = own_floor(member, own.as_deref());
                self.add(module, Entry { name: format!("{name}::{member_name}"), sought, floor });
            }
        }
    }

    fn has_functions(&self, items: &[Id]) -> bool {
        items
            .iter()
            .any(|id| matches!(self.item(*id), Some(Item { inner: ItemEnum::Function(_), .. })))
    }

    /// What a type has without a trait.
    fn inherent(&self, impls: &[Id]) -> Vec<Id> {
        let items = impls.iter().filter_map(|id| match &self.item(*id)?.inner {
            ItemEnum::Impl(Impl { trait_: None, items, .. }) => Some(items),
            _ => None,
        });
        items.flatten().copied().collect()
    }
}

/// Parts of attributes, as rustdoc's JSON has them: of what the documentation leaves out, of what is not there in kernels, and of what
/// stands on the host for a function that only kernels have (`#[gpu_only]` writes both of the latter).
const HIDDEN: &str = "doc(hidden)";
const NOT_IN_KERNELS: &str =
    r#"CfgTrace([Not(NameValue { name: "target_arch", value: Some("nvptx64")"#;
const STAND_IN: &str = "allow(unused_variables, unused_mut)";

/// Whether the documentation leaves it out, or kernels do: what is there for the host alone.
fn is_hidden(item: &Item) -> bool {
    let has = |part: &str| {
        let mut attributes = item.attrs.iter();
        attributes
            .any(|attribute| matches!(attribute, Attribute::Other(text) if text.contains(part)))
    };
    has(HIDDEN) || (has(NOT_IN_KERNELS) && !has(STAND_IN))
}

fn own_floor(item: &Item, inherited: Inherited<'_>) -> Option<String> {
    item.docs.as_deref().and_then(floor).or_else(|| inherited.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An item with attributes as rustdoc of Rust 1.95 writes them.
    fn with(attributes: &[&str]) -> Item {
        let attrs: Vec<_> =
            attributes.iter().map(|text| serde_json::json!({ "other": text })).collect();
        let item = serde_json::json!({
            "id": 1, "crate_id": 0, "name": "item", "span": null, "visibility": "public", "docs": null, "links": {},
            "attrs": attrs, "deprecation": null,
            "inner": { "module": { "is_crate": false, "items": [], "is_stripped": false } },
        });
        serde_json::from_value(item).expect("an item of the format that is known")
    }

    #[test]
    fn functions_that_only_kernels_have_are_shown() {
        let not_in_kernels = r#"#[attr = CfgTrace([Not(NameValue { name: "target_arch", value: Some("nvptx64"), span: x })])]"#;
        let stand_in = "#[allow(unused_variables, unused_mut)]";
        assert!(!is_hidden(&with(&[])));
        assert!(!is_hidden(&with(&[stand_in, not_in_kernels, "#[attr = TrackCaller]"])));
        assert!(is_hidden(&with(&[not_in_kernels])));
        assert!(is_hidden(&with(&["#[doc(hidden)]"])));
    }
}
