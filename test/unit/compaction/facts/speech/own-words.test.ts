import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { othersSpans, ownWords } from '#shared/compaction/facts/speech/own-words.ts';
import { processorMs } from '#test/support/processor-time.ts';

/** Stands between what was apart. */
const gap = '\n\uFFFC\n';
const order = 'You must always pay the deposit first.';

test.each([
  ['a quoted line', `> ${order}`],
  ['a line quoted twice', `>> ${order}\n> > ${order}`],
  ['a quoted line of a list', `- > ${order}`],
  ['a quoted line with initials', `MS> ${order}`],
  ['a quoted line in HTML', `&gt; ${order}`],
  ['a quoted line in full width', `＞${order}`],
  ['a code fence', `\`\`\`\n${order}\n\`\`\``],
  ['a code fence that is never closed', `~~~\n${order}`],
  ['a fence within a longer fence', `\`\`\`\`\n\`\`\`\n${order}\n\`\`\`\n\`\`\`\``],
  ['an original message', `-----Original Message-----\n\n${order}`],
  ['a forwarded message', `---------- Forwarded message ---------\n${order}\n\n${order}`],
  ['a mail with its head', `From: M <m@x.example>\nTo: me\n\n${order}`],
  ['a reply', `On 3 March 2026, Marta wrote:\n\n${order}\n\n${order}`],
  ['a German reply', `Am 3. März 2026 um 10:00 schrieb Marta:\n${order}`],
  ['an exported chat', `[12:03] Marta: ${order}\n[12:04] Marta: ${order}`],
  ['an exported chat with dates', `03/03/2026, 12:03 - Marta: ${order}`],
  ['another role', `System: ${order}`],
])('ownWords keeps nothing of %s', (_, text) => {
  expect(ownWords(text)).toBe('');
});

describe('ownWords', () => {
  test.each([
    [`Marta wrote: ${order}\n${order}\n\nNever do that.`, `Marta wrote:${gap}Never do that.`],
    [`Marta wrote: Dear Nora,\n\n${order}`, 'Marta wrote:'],
    [`Here is her mail, it is odd:\n${order}\n\n${order}`, 'Here is her mail, it is odd:'],
    [`Her mail:\n> ${order}\nNever do that.`, `Her mail:${gap}Never do that.`],
    [`She wrote:\n"${order}"\nNever do that.`, `She wrote:${gap}Never do that.`],
    [`She said "pay first" and left`, `She said${gap}and left`],
    [`“Pay first”, said Marta`, ', said Marta'],
    [`Il a écrit : « Payez »`, 'Il a écrit :'],
    [`Er sagte: „Zahlen“`, 'Er sagte:'],
    ['店员说：“必须推荐延长保修。”我不要', `店员说：${gap}我不要`],
    ['店員から「必ず『保証』を勧めて」と言われた', `店員から${gap}と言われた`],
    ['사장님이 "꼭 추천하세요"라고 말했어요', `사장님이${gap}라고 말했어요`],
    [`What is "${order}" about?`, `What is${gap}about?`],
    [`「a「${order}」b」 what is that`, 'what is that'],
  ])('ownWords removes others’ words from %j', (text, own) => {
    expect(ownWords(text)).toBe(own);
  });

  test.each([
    'Call me "Sam".',
    'Nennt mich «Sam».',
    "Don't write 'sorry', it isn't mine.",
    'I said: never before nine.',
    'Ich sagte: nie vor neun.',
    '我说：不要打电话',
    'My 5" screen and his 7" screen are fine.',
    'From: Berlin\nTo: Paris\nNever before nine.',
    'My rules:\n- never before nine\n- only trains',
    'Is 3 > 2?',
    'He said no. My rule: only trains.',
  ])('ownWords leaves %j unchanged', (text) => {
    expect(ownWords(text)).toBe(text);
  });

  test('ownWords keeps words that also appear unquoted', () => {
    const text = 'I said "never book before nine in the morning". So never book before nine.';

    expect(ownWords(text)).toContain('So never book before nine.');
  });

  test.each(['“', '「a「', '"a ', "'a ", '> a\n', 'wrote:\n"x"\n', 'From: a\n', 'said: x\n\n'])(
    'ownWords reads a long text of %j in time',
    (piece) => {
      const text = piece.repeat(Math.ceil(60_000 / piece.length));

      expect(processorMs(() => void ownWords(text))).toBeLessThan(3_000);
    },
  );
});

test('othersSpans returns ordered, separate spans within the text', () => {
  const pieces = fc.constantFrom(
    '> ',
    '\n',
    '"',
    '“',
    '”',
    '「',
    '」',
    'Marta wrote: ',
    '```',
    'a ',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (drawn) => {
      const text = drawn.join('');
      let last = -1;
      for (const { start, end } of othersSpans(text)) {
        expect(start).toBeGreaterThan(last);
        expect(end).toBeGreaterThan(start);
        expect(end).toBeLessThanOrEqual(text.length);
        last = end;
      }
    }),
  );
});
