import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseRecordings as parseForReplay } from '#lab/eval/replay/recording.ts';
import { parseRecordings } from '#web/panes/player/recording.ts';

const line = (turns: readonly object[], id = 'a') => JSON.stringify({ id, turns });
const said = (role: string, text: string) => ({ role, parts: [{ text }] });

test('a recording plays the user’s messages in order', () => {
  const jsonl = line([said('user', 'One'), said('model', 'Yes'), said('user', 'Two')]);

  expect(parseRecordings(jsonl)).toEqual({
    kind: 'recordings',
    recordings: [{ id: 'a', messages: ['One', 'Two'] }],
  });
});

test.each([
  [
    'neighbouring contents of the user are one message',
    [said('user', 'One'), said('user', 'Two')],
    ['One\nTwo'],
  ],
  [
    'a tool’s response parts no messages and is none',
    [said('user', 'One'), { role: 'user', parts: [{ functionResponse: {} }] }],
    ['One'],
  ],
  [
    'thoughts are not said',
    [{ role: 'user', parts: [{ text: 'One' }, { text: 'hm', thought: true }] }],
    ['One'],
  ],
])('a recording is read: %s', (_case, turns, messages) => {
  expect(parseRecordings(line(turns))).toMatchObject({ recordings: [{ messages }] });
});

test.each([
  ['an empty file', '', 0],
  ['a conversation in which nobody says anything', line([said('model', 'Hello')]), 0],
  ['text', 'hello', 1],
  ['a second line that is cut off', `${line([said('user', 'One')])}\n{"id":`, 2],
  ['another form', '{"messages":[]}', 1],
])('a recording with %s is refused and the line named', (_case, jsonl, number) => {
  expect(parseRecordings(jsonl)).toEqual({ kind: 'unreadable', line: number });
});

test.each(['garden.en.jsonl', 'journey.ja.jsonl'])(
  'the sample %s can be played here and by npm run replay',
  (name) => {
    const jsonl = readFileSync(
      new URL(`../../../web/public/samples/${name}`, import.meta.url),
      'utf8',
    );

    const parsed = parseRecordings(jsonl);

    expect(parsed.kind === 'recordings' && parsed.recordings[0]?.messages.length).toBeGreaterThan(
      20,
    );
    expect(parseForReplay(jsonl)).toHaveLength(1);
  },
);
