import { describe, expect, test } from 'vitest';
import { createRepetitionDetector } from '#shared/text/repetition-detector.ts';

const repetitions = (text: string): boolean => createRepetitionDetector().see(text);

/** How much of a text was seen when it was found to chant; undefined: it does not. */
function foundAfter(text: string): number | undefined {
  const detector = createRepetitionDetector();
  const found = text.split('').findIndex((character) => detector.see(character));
  return found === -1 ? undefined : found + 1;
}

const english = 'I will look that up for you right away, one moment please. ';
const chinese = '我马上为您查询航班信息，请稍等片刻，谢谢您的耐心等待。';
const paragraph = `${english}First I check the timetable of the airline, then the fare of each class, and in the end the seats that are left on board. `;

describe('a phrase that is said again and again', () => {
  test.each([
    ['of one letter', 'a'],
    ['of a sentence', english],
    ['of Chinese', chinese],
    ['of emoji', '😂'],
    ['with a ruler below', `${english}\n----------\n`],
  ])('repeating %s is a repetition loop', (_, phrase) => {
    expect(repetitions(`Of course. ${phrase.repeat(Math.ceil(2_500 / phrase.length) + 5)}`)).toBe(
      true,
    );
  });

  test('a repetition loop is found when its tenth repetition is complete', () => {
    expect(foundAfter(paragraph.repeat(20))).toBe(9 * paragraph.length + 50);
  });

  test.each([
    ['nine times', `${english.repeat(9)}That is all.`],
    [
      'ten times, but never close together',
      Array.from({ length: 12 }, (_, i) => `${english}${other(i, 300)}`).join(''),
    ],
    ['in laughter', `${'ha'.repeat(60)} that was good.`],
    ['as a stretched word', `N${'o'.repeat(300)}!`],
    ['as a form to fill in', `Name: ${'_'.repeat(120)}\nDate: ${'_'.repeat(120)}\n`.repeat(5)],
  ])('repeating %s is no repetition loop', (_, text) => {
    expect(repetitions(text)).toBe(false);
  });
});

/** Words that no other text shares. */
function other(seed: number, characters: number): string {
  let text = '';
  for (let i = 0; text.length < characters; i++)
    text += `${((seed + 1) * 7_919 * (i + 3) + i * 104_729).toString(36)} `;
  return text;
}

describe('text that repeats itself for good reasons', () => {
  const flight = (i: number) =>
    `- Flight HAT${117 + i * 13}: ${6 + i}:05 to ${9 + i}:40, ${148 + i * 17} dollars\n  Cabin: economy, one bag of 23 kg included, not refundable\n`;
  const seat = { seat: 'free', price: 20, wheelchair: false, window: false };
  const row = '| economy | one bag of 23 kg included | not refundable |\n';
  const code = 'await database.collection("orders").insert({ state: "open" });\n';

  test.each([
    [
      'a list whose entries have words in common',
      Array.from({ length: 40 }, (_, i) => flight(i)).join(''),
    ],
    ['the rows of a table', `Fares:\n\n${row.repeat(60)}`],
    ['the rows of a table in HTML', `<table>\n${'<tr><td>free</td><td>20</td></tr>\n'.repeat(60)}`],
    [
      'JSON over many lines, in a sentence',
      `Here: ${JSON.stringify([seat, ...Array.from({ length: 30 }, () => seat)], null, 2)} Done.`,
    ],
    ['fenced code', `So:\n\n\`\`\`js\n${code.repeat(60)}\`\`\`\nDone.`],
    [
      'fenced code with other fences in it',
      `So:\n\n~~~~md\n\`\`\`\n${code.repeat(60)}\`\`\`\n~~~\n${code.repeat(9)}~~~~\nDone.`,
    ],
    ['code blocks with the same words between them', `${english}\n\`\`\`\nls\n\`\`\`\n`.repeat(30)],
    [
      'the leaders of a table of contents',
      Array.from({ length: 40 }, (_, i) => `${other(i, 12)} ${'.'.repeat(60)} ${i}\n`).join(''),
    ],
  ])('a text that repeats itself for good reasons is no loop: %s', (_, text) => {
    expect(repetitions(text)).toBe(false);
  });

  test.each([
    ['behind closed JSON', `[{"a": "}"}] ${english.repeat(12)}`],
    ['behind open brackets in fenced code', `\`\`\`\n[{\n\`\`\`\n${english.repeat(12)}`],
    ['behind an open quotation in a brace', `{"\n${english.repeat(12)}`],
    ['with a note in each sentence', `${english.slice(0, -2)} [1]. `.repeat(12)],
    ['behind remarks in brackets', `[a] and {b}: ${english.repeat(12)}`],
    ['of digits in a number of JSON', `{"price": 1${'0'.repeat(1_000)}`],
    ['of blanks in JSON', `{"price": 1${'\t\r\n'.repeat(400)}`],
  ])('a repetition %s is a loop', (_, text) => {
    expect(repetitions(text)).toBe(true);
  });

  const label = 'the customer is neither content nor discontented';
  test.each([
    ['equal labels', { labels: Array.from({ length: 60 }, () => label) }],
    ['zeros', { pixels: Array.from({ length: 400 }, () => 0) }],
  ])('a list in a text that is JSON is no loop: %s', (_, value) => {
    for (const indentation of [0, 2])
      expect(
        createRepetitionDetector({ isJson: true }).see(JSON.stringify(value, null, indentation)),
      ).toBe(false);
  });
});

describe('a stream', () => {
  const text = `Of course! Let me see.\n\n${english.repeat(12)}`;

  test('a stream’s repetition loop is detected the same wherever it is cut', () => {
    const whole = foundAfter(text);
    for (let cut = 0; cut <= text.length; cut++) {
      const detector = createRepetitionDetector();
      const isFound = detector.see(text.slice(0, cut));
      expect(isFound).toBe(cut >= (whole ?? 0));
      expect(detector.see(text.slice(cut))).toBe(true);
    }
  });
});

test('the repetition search remembers nothing beyond its window', () => {
  const detector = createRepetitionDetector();
  const far = Array.from({ length: 12 }, (_, i) => english.repeat(3) + other(i, 5_000)).join('');

  expect(detector.see(far)).toBe(false);
});
