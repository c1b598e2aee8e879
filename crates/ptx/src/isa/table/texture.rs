//! PTX ISA, Texture Instructions, Surface Instructions, and Video Instructions.

use super::super::row::{Row, missing};

const TEXTURES: &str = "textures and surfaces are not implemented";
const VIDEO: &str =
    "video instructions are emulated by current hardware too, and no compiler emits them";

pub(super) const ROWS: &[Row] = &[
    missing("tex.*", "", 10, 0, TEXTURES),
    missing("tld4.*", "", 22, 20, TEXTURES),
    missing("txq.*", "", 20, 20, TEXTURES),
    missing("istypep.*", "", 40, 30, TEXTURES),
    missing("suld.*", "", 15, 20, TEXTURES),
    missing("sust.*", "", 15, 20, TEXTURES),
    missing("sured.*", "", 20, 20, TEXTURES),
    missing("suq.*", "", 20, 20, TEXTURES),
    missing("vadd.*", "", 20, 20, VIDEO),
    missing("vsub.*", "", 20, 20, VIDEO),
    missing("vabsdiff.*", "", 20, 20, VIDEO),
    missing("vmin.*", "", 20, 20, VIDEO),
    missing("vmax.*", "", 20, 20, VIDEO),
    missing("vshl.*", "", 20, 20, VIDEO),
    missing("vshr.*", "", 20, 20, VIDEO),
    missing("vmad.*", "", 20, 20, VIDEO),
    missing("vset.*", "", 20, 20, VIDEO),
    missing("vadd2.*", "", 30, 30, VIDEO),
    missing("vsub2.*", "", 30, 30, VIDEO),
    missing("vavrg2.*", "", 30, 30, VIDEO),
    missing("vabsdiff2.*", "", 30, 30, VIDEO),
    missing("vmin2.*", "", 30, 30, VIDEO),
    missing("vmax2.*", "", 30, 30, VIDEO),
    missing("vset2.*", "", 30, 30, VIDEO),
    missing("vadd4.*", "", 30, 30, VIDEO),
    missing("vsub4.*", "", 30, 30, VIDEO),
    missing("vavrg4.*", "", 30, 30, VIDEO),
    missing("vabsdiff4.*", "", 30, 30, VIDEO),
    missing("vmin4.*", "", 30, 30, VIDEO),
    missing("vmax4.*", "", 30, 30, VIDEO),
    missing("vset4.*", "", 30, 30, VIDEO),
];
