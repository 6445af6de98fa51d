import { terminalText } from '../terminal-text.ts';
import { shortenLogLine } from './processes/log-line.ts';
import type { PartName, StackEvent, StackLog } from './stack/stack-event.ts';

interface Step {
  title: string;
  state: 'starting' | 'ready' | 'failed';
  tookMs?: number;
}

interface ConsoleOptions {
  write: (text: string) => void;
  /** Lines may be drawn again in place. */
  isTerminal: boolean;
  isVerbose: boolean;
}

const marks = { starting: '…', ready: '✓', failed: '✗' } as const;

const milliseconds = (value: number): string => `${value.toLocaleString('en')} ms`;

function stepLine(step: Step): string {
  const took = step.tookMs === undefined ? '' : milliseconds(step.tookMs);
  return `  ${marks[step.state]} ${step.title.padEnd(34)} ${took.padStart(9)}`;
}

/** Lines under an event; log lines of the functions as short as they are shown otherwise. */
const indented = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => shortenLogLine(line) ?? [])
    .map((line) => `\n      ${line}`)
    .join('');

/** In the embedded mode the store is in the process of the functions, or has one of its own. */
const lossOf = (part: PartName) =>
  part === 'functions' || part === 'store'
    ? ' What was stored went with the process: conversations begin anew.'
    : '';

function eventText(event: StackEvent, isVerbose: boolean): string | undefined {
  switch (event.kind) {
    case 'starting':
    case 'ready':
      return undefined;
    case 'failed':
      return `  ✗ ${event.part}: ${event.problem}`;
    case 'port-taken':
      return `  port ${event.wantedPort} is taken: ${event.part} uses ${event.usedPort}`;
    case 'note':
      return isVerbose ? `  ${event.text}` : undefined;
    case 'line': {
      const text = isVerbose ? event.line : shortenLogLine(event.line);
      return text === undefined ? undefined : `  ${event.part.padEnd(10)} ${text}`;
    }
    case 'crashed':
      return `✗ ${event.part} crashed (${event.exit}); it starts again in ${milliseconds(event.restartInMs)}. Its last lines:${indented(event.lastLines)}`;
    case 'restarted':
      return `✓ ${event.part} is back after ${milliseconds(event.tookMs)}.${lossOf(event.part)}`;
    case 'lost':
      return `✗ ${event.part} ended, and what they held is gone: press Ctrl-C and start again. Their last lines:${indented(event.lastLines)}`;
    case 'gave-up':
      return `✗ ${event.part} crashed ${event.crashes} times within a minute and stays down; the rest goes on. Its last lines:${indented(event.lastLines)}`;
  }
}

/** The list of parts with a line each, drawn again in place on a terminal. */
function createStepList({ write, isTerminal }: ConsoleOptions): (event: StackEvent) => void {
  const steps = new Map<PartName, Step>();
  let drawnLines = 0;

  const draw = (changed: Step): void => {
    if (!isTerminal) {
      if (changed.state !== 'starting') write(`${stepLine(changed)}\n`);
      return;
    }
    const lines = [...steps.values()].map((step) => `\u001B[2K${stepLine(step)}\n`);
    write(`${drawnLines > 0 ? `\u001B[${drawnLines}A` : ''}${lines.join('')}`);
    drawnLines = lines.length;
  };

  return (event) => {
    if (event.kind === 'starting') {
      const step: Step = { title: event.title, state: 'starting' };
      steps.set(event.part, step);
      draw(step);
    } else if (event.kind === 'ready' || event.kind === 'failed') {
      const step = steps.get(event.part);
      if (!step) return;
      step.state = event.kind;
      if (event.kind === 'ready') step.tookMs = event.tookMs;
      draw(step);
    }
  };
}

/** Lines that wait for the list of parts to stand; older ones are dropped and counted. */
export const HELD_LINES_MAX = 100;

/**
 * Shows what the stack tells: the start-up as a list with a line a part, which is drawn again in place on
 * a terminal, afterwards one line an event. Whatever else happens meanwhile appears once the list stands.
 */
export function createStartConsole(options: ConsoleOptions): {
  log: StackLog;
  /** The list stands: what was held is shown, what comes later at once. */
  settle: () => void;
} {
  const { write, isVerbose } = options;
  const listStep = createStepList(options);
  const held: string[] = [];
  let droppedLines = 0;
  let isSettled = false;

  const hold = (text: string): void => {
    held.push(text);
    if (held.length <= HELD_LINES_MAX) return;
    held.shift();
    droppedLines += 1;
  };

  const log: StackLog = (event) => {
    const line = eventText(event, isVerbose);
    if (line !== undefined) {
      const text = terminalText(line);
      if (isSettled) write(`${text}\n`);
      // What a part says while it starts is of interest when it fails, and is in that message then.
      else if (isVerbose || event.kind !== 'line') hold(text);
    }
    listStep(event);
  };

  return {
    log,
    settle: () => {
      isSettled = true;
      if (droppedLines > 0) write(`(${droppedLines} earlier lines left out)\n`);
      for (const text of held.splice(0)) write(`${text}\n`);
    },
  };
}
