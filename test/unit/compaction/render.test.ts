import { renderSnapshot, splitStatus } from '#shared/compaction/render.ts';
import { workingItems, type Item } from '#shared/conversation/documents/snapshot.ts';
import { oneLine } from '#shared/text/cut.ts';
import {
  counting,
  item,
  snapshots,
  snapshotWith,
} from '#test/support/compaction/engine-samples.ts';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { expect, test } from 'vitest';
import fc from 'fast-check';

const room = { budgetTokens: 1_500, counting };
const archived = (id: string, text: string, more: object = {}) => ({
  ...item(id, text, more),
  section: 'key_knowledge',
});

/** The lines of the steps in a rendered snapshot. */
const stepsOf = (...steps: ReturnType<typeof item>[]) =>
  renderSnapshot(snapshotWith({ task_state: steps }), room).match(/^- .*$/gmu) ?? [];
const step = (status: Item['status'], sources: number[], text = 'Step') =>
  item(`i${sources.join('')}`, text, { status, sources });

test.each<[string, ReturnType<typeof item>[], number[]]>([
  ['none where there is no plan', [], []],
  ['none where all is done or to do', [step('done', [1]), step('todo', [2])], []],
  ['the one in progress', [step('done', [1]), step('in_progress', [2]), step('todo', [3])], [1]],
  [
    'of several in progress the one spoken of last',
    [step('in_progress', [1, 9]), step('in_progress', [2, 4])],
    [0],
  ],
  ['of two in one turn the later one', [step('in_progress', [4]), step('in_progress', [4])], [1]],
])('the current step of a rendered snapshot is %s', (_, steps, marked) => {
  const lines = stepsOf(...steps);

  expect(lines.flatMap((line, at) => (line.endsWith(' &lt;-- CURRENT FOCUS') ? [at] : []))).toEqual(
    marked,
  );
});

test('a rendered snapshot has an item a line, in profile order, without sources', () => {
  const snapshot = snapshotWith({
    task_state: [item('i3', 'Call the landlord', { status: 'in_progress' })],
    overall_goal: [item('i1', 'Find a flat')],
    key_knowledge: [item('i2', 'Rent < 900 & warm'), item('i4', 'Elm\nRoad 12')],
  });

  expect(renderSnapshot(snapshot, room)).toBe(
    [
      '<state_snapshot>',
      '<overall_goal>',
      'Find a flat',
      '</overall_goal>',
      '<key_knowledge>',
      '- Rent &lt; 900 &amp; warm',
      '- Elm Road 12',
      '</key_knowledge>',
      '<task_state>',
      '- [IN PROGRESS] Call the landlord &lt;-- CURRENT FOCUS',
      '</task_state>',
      '</state_snapshot>',
    ].join('\n'),
  );
});

test('a rendered snapshot shows archived items that fit, important and newest first', () => {
  const snapshot = snapshotWith(
    { key_knowledge: [item('i9', 'now')] },
    {
      archive: [
        archived('i1', 'old', { sources: [1] }),
        archived('i2', 'newer', { sources: [5] }),
        archived('i3', 'important', { importance: 3 }),
        archived('i4', 'long '.repeat(300), { importance: 3 }),
      ],
    },
  );

  const text = renderSnapshot(snapshot, { budgetTokens: 70, counting });
  expect(text).toContain('<archive>\n- important\n- newer\n- old\n</archive>\n</state_snapshot>');
});

const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc
    .array(
      fc.constantFrom('<', '>', '&', '&lt;', ']]>', '</archive>', '\n- ', '<!--', '\u2028', 'a'),
    )
    .map((pieces) => pieces.join('')),
);

const parser = new XMLParser({ trimValues: false, parseTagValue: false });

test('a rendered snapshot is XML that gives any item’s text back', () => {
  fc.assert(
    fc.property(snapshots(hostileText), (snapshot) => {
      const plain = { ...snapshot, archive: [] };
      const xml = renderSnapshot(plain, room);

      expect(XMLValidator.validate(xml)).toBe(true);
      const parsed = JSON.stringify(parser.parse(xml));
      for (const { text } of workingItems(plain))
        expect(parsed).toContain(JSON.stringify(oneLine(text)).slice(1, -1));
    }),
  );
});

test.each([
  ['[DONE] Pay', { text: 'Pay', status: 'done' }],
  ['[in progress]: Pay', { text: 'Pay', status: 'in_progress' }],
  ['[IN_PROGRESS] Pay', { text: 'Pay', status: 'in_progress' }],
  ['Pay [DONE]', { text: 'Pay [DONE]' }],
  ['[DONE]', { text: '[DONE]' }],
])('the status that a model writes into a text is read from %j', (written, read) => {
  expect(splitStatus(written)).toEqual(read);
});
