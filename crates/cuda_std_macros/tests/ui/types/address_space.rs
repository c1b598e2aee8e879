use cuda_std::address_space;

struct Cell(u32);

impl Cell {
    const fn uninit() -> Self {
        Cell(7)
    }
}

#[address_space(shared)]
static mut LOOKS_RIGHT: Cell = Cell::uninit();

fn main() {}
