"""The commands `gyrfalcon paper` and `gyrfalcon demo`, offered as an extension of the command line."""

COMMANDS = {
    "demo": ("gyrfalcon_paper.cli.demo", "Play the paper's first example in a minute: a table and a page."),
    "paper": ("gyrfalcon_paper.cli.paper", "Compute every figure, table and claim of the paper."),
}
