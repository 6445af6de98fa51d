import { describe, expect, test } from 'vitest';
import { createStartConsole, shortenLogLine } from '#infra/local/start-console.ts';
import { parseStartArguments } from '#infra/local/start-arguments.ts';

function screen(isVerbose = false) {
  const written: string[] = [];
  const { log, settle } = createStartConsole({ write: (text) => written.push(text), isVerbose });
  return { log, settle, text: () => written.join('') };
}

describe('the console of npm start', () => {
  test('the npm start console shows each part with its time', () => {
    const { log, text } = screen();

    log({ kind: 'ready', part: 'chat', title: 'chat function', tookMs: 1_234 });

    expect(text()).toMatch(/^ {2}✓ chat function +1,234 ms\n$/);
  });

  test.each([
    { isVerbose: false, expected: '  chat       later\n' },
    { isVerbose: true, expected: '  chat       early\n  chat       later\n' },
  ])(
    'the npm start console shows log lines of the start-up only when verbose ($isVerbose)',
    ({ isVerbose, expected }) => {
      const { log, settle, text } = screen(isVerbose);

      log({ kind: 'line', part: 'chat', line: 'early' });
      settle();
      log({ kind: 'line', part: 'chat', line: 'later' });

      expect(text()).toBe(expected);
    },
  );

  test('the npm start console names the port used instead of a taken one', () => {
    const { log, settle, text } = screen();

    settle();
    log({ kind: 'port-taken', part: 'chat', wantedPort: 8_080, usedPort: 8_083 });

    expect(text()).toBe('  port 8080 is taken: chat uses 8083\n');
  });

  test('the npm start console says that the embedded store ended with its process', () => {
    const { log, settle, text } = screen();

    settle();
    log({ kind: 'restarted', part: 'functions', tookMs: 900 });
    log({ kind: 'restarted', part: 'chat', tookMs: 900 });

    expect(text()).toBe(
      '✓ functions is back after 900 ms. What was stored went with the process: conversations begin anew.\n' +
        '✓ chat is back after 900 ms.\n',
    );
  });

  test('the npm start console shows a crashed part’s last lines without successful requests', () => {
    const { log, settle, text } = screen();
    const request = JSON.stringify({ severity: 'INFO', event: 'request', status: 200 });

    settle();
    log({
      kind: 'crashed',
      part: 'chat',
      exit: 'SIGKILL',
      lastLines: [request, 'a word'],
    });

    expect(text()).toContain('a word');
    expect(text()).not.toContain('request');
  });

  test('the npm start console shows the last lines of a crashed part', () => {
    const { log, settle, text } = screen();

    settle();
    log({
      kind: 'crashed',
      part: 'chat',
      exit: 'SIGKILL',
      lastLines: ['a', 'b'],
    });

    expect(text()).toBe(
      '✗ chat crashed (SIGKILL) and starts again. Its last lines:\n      a\n      b\n',
    );
  });
});

const entry = { severity: 'INFO', event: 'turn.finished', time: 'x', durationMs: 12 };

test.each([
  { title: 'an entry', line: JSON.stringify(entry), expected: 'turn.finished durationMs=12' },
  {
    title: 'a warning',
    line: JSON.stringify({ ...entry, severity: 'WARNING' }),
    expected: 'WARNING turn.finished durationMs=12',
  },
  {
    title: 'a debug entry',
    line: JSON.stringify({ ...entry, severity: 'DEBUG' }),
    expected: undefined,
  },
  {
    title: 'a request that went well',
    line: JSON.stringify({ ...entry, event: 'request' }),
    expected: undefined,
  },
  { title: 'plain text', line: 'Error: no', expected: 'Error: no' },
  { title: 'broken JSON', line: '{"a":', expected: '{"a":' },
])('shortenLogLine turns $title into $expected', ({ line, expected }) => {
  expect(shortenLogLine(line)).toBe(expected);
});

describe('parseStartArguments', () => {
  test('parseStartArguments uses port 8080 by default', () => {
    expect(parseStartArguments([])).toEqual({
      isEmbedded: false,
      port: 8_080,
      isVerbose: false,
    });
  });

  test.each([
    ['--port', '0'],
    ['--port', '65534'],
    ['--port', 'x'],
    ['--prt', '1'],
  ])('parseStartArguments refuses %s %s and names the flag', (flag, value) => {
    expect(() => parseStartArguments([flag, value])).toThrow(flag);
  });
});
