import { terminalText } from '#infra/terminal-text.ts';

const width = 30;

export interface ProgressBar {
  advance(count: number, label: string): void;
  /** Prints a line above the bar. */
  print(line: string): void;
  end(): void;
}

/**
 * A bar that is drawn again in place on a terminal; elsewhere one line each tenth. `write` gets raw text.
 */
export function createProgressBar(options: {
  total: number;
  isTerminal: boolean;
  write: (text: string) => void;
}): ProgressBar {
  const { total, isTerminal, write } = options;
  let done = 0;
  let label = '';
  let toldTenths = 0;

  const clear = (): void => {
    if (isTerminal) write('\r\u001B[2K');
  };
  const draw = (): void => {
    if (!isTerminal) return;
    const filled = total === 0 ? width : Math.round((width * done) / total);
    write(
      `\r\u001B[2K${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${done}/${total} ${label}`,
    );
  };

  return {
    advance: (count, newLabel) => {
      done += count;
      label = terminalText(newLabel);
      const tenths = total === 0 ? 10 : Math.floor((10 * done) / total);
      if (!isTerminal && tenths > toldTenths) write(`${done}/${total} ${label}\n`);
      toldTenths = Math.max(toldTenths, tenths);
      draw();
    },
    print: (line) => {
      clear();
      write(`${terminalText(line)}\n`);
      draw();
    },
    end: clear,
  };
}
