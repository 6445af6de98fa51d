import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answersText, openAnswerFolder, stalePlaces, type AnswerFolder } from './answer-folder.ts';
import { AnswerMissingError, askRecorded } from './ask-recorded.ts';
import { findAnswer, readPromptId } from './answer-names.ts';
import { countedIds } from './prompt-text.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recap-answers-'));
});
afterEach(() => rm(folder, { recursive: true }));

function opened(settings: { isLoose: boolean } = { isLoose: false }): AnswerFolder {
  const answers = openAnswerFolder({ folder, ...settings });
  answers.beginConversation({ id: 'a/1', strategy: 'ledger' });
  return answers;
}

const asking = (text: string, promptId = 'compress-1') => ({
  promptId,
  body: {
    systemInstruction: { parts: [{ text: 'Sum up.' }] },
    contents: [{ role: 'user', parts: [{ text }] }],
    generationConfig: { responseJsonSchema: { type: 'object' } },
  },
});

const promptFiles = async () => (await readdir(folder)).filter((name) => name.endsWith('.md'));

describe('a folder of answers', () => {
  test('is given the prompt that has no answer, with all that is needed to answer it', async () => {
    const answers = opened();

    expect(await answers.answer(asking('Hello'))).toBeUndefined();

    const [name = ''] = await promptFiles();
    expect(name).toMatch(/^a_1\.ledger\.g1\.main\.[0-9a-f]{12}\.prompt\.md$/u);
    const prompt = await readFile(join(folder, name), 'utf8');
    expect(prompt).toContain('Sum up.');
    expect(prompt).toContain('### user\nHello');
    expect(prompt).toContain('{"type":"object"}');
    expect(answers.isWaiting()).toBe(true);
    expect(answersText(answers)).toContain(join(folder, name));
  });

  test('gives what stands beside the prompt, without the fence around it', async () => {
    await opened().answer(asking('Hello'));
    const [name = ''] = await promptFiles();
    const answerPath = join(folder, name.replace('.prompt.md', '.answer.txt'));
    await writeFile(answerPath, '```json\n{"operations":[]}\n```\n');
    const answers = opened();

    expect(await answers.answer(asking('Hello'))).toBe('{"operations":[]}');
    expect(answers.isWaiting()).toBe(false);
    expect(answersText(answers)).toBe('');
  });

  test('takes a prompt for the same whichever random ids stand in it', async () => {
    const { uuid } = countedIds();
    const answers = opened();

    await answers.answer(asking(`Between ${uuid()}`));
    await answers.answer(asking(`Between ${uuid()}`, 'compress-1-verify'));

    expect(await promptFiles()).toHaveLength(1);
  });

  test('gives the answer of a place to a changed prompt when it is loose, and tells', async () => {
    await writeFile(join(folder, 'a_1.ledger.g2.main.answer.txt'), 'older');
    const answers = opened({ isLoose: true });
    answers.beginGeneration(2);

    expect(await answers.answer(asking('New words'))).toBe('older');
    expect(stalePlaces(answers.asked())).toEqual(['a_1.ledger.g2.main']);
    expect(await promptFiles()).toEqual([]);
  });

  test.each([
    { isLoose: false, isWaiting: true },
    { isLoose: true, isWaiting: false },
  ])('without a condensed output waits: $isWaiting, loose: $isLoose', async (expected) => {
    const answers = opened(expected);

    await answers.answer(asking('Left out', 'compress-1-condense-1'));

    expect(answers.isWaiting()).toBe(expected.isWaiting);
    expect(answersText(answers)).toContain('g1.condense');
  });

  test('says which prompt has no answer where somebody needs it', async () => {
    const answers = opened();

    const asked = askRecorded(answers)({ kind: 'reader', text: 'Who?' });

    await expect(asked).rejects.toThrow(/a_1\.ledger\.g1\.reader\.[0-9a-f]{12}\.prompt\.md$/u);
    await expect(asked).rejects.toBeInstanceOf(AnswerMissingError);
  });
});

const first = {
  id: 'locomo/conv-26',
  strategy: 'ledger',
  generation: 1,
  kind: 'main' as const,
  number: 1,
};
const hash = '0123456789ab';
const otherHash = 'ba9876543210';

describe('the id of a prompt says what it asks for', () => {
  test.each([
    ['compress-1700000000000', { kind: 'main', number: 1 }],
    ['compress-1700000000000-2', { kind: 'main', number: 2 }],
    ['compress-1700000000000-2-verify', { kind: 'verify', number: 2 }],
    ['compress-1700000000000-verify', { kind: 'verify', number: 1 }],
    ['compress-1700000000000-condense-3', { kind: 'condense', number: 3 }],
    ['something else', { kind: 'main', number: 1 }],
  ] as const)('%s', (promptId, expected) => {
    expect(readPromptId(promptId)).toEqual(expected);
  });
});

describe('an answer is found', () => {
  const byHash = `locomo_conv-26.ledger.${hash}`;
  const byPlace = 'locomo_conv-26.ledger.g1.main';
  const byBoth = `${byPlace}.${hash}`;
  const older = `${byPlace}.${otherHash}`;

  test.each([
    { there: [byHash], isLoose: false, found: { name: byHash, by: 'hash' } },
    { there: [byBoth], isLoose: false, found: { name: byBoth, by: 'hash' } },
    { there: [byPlace, byHash], isLoose: true, found: { name: byHash, by: 'hash' } },
    { there: [byPlace], isLoose: true, found: { name: byPlace, by: 'place' } },
    { there: [older], isLoose: true, found: { name: older, by: 'place' } },
    { there: [older, byPlace], isLoose: true, found: { name: byPlace, by: 'place' } },
    { there: [byPlace, older], isLoose: false, found: undefined },
    { there: [`${byPlace}.2`], isLoose: true, found: undefined },
    { there: [`other.ledger.${hash}`], isLoose: true, found: undefined },
    { there: [], isLoose: true, found: undefined },
  ])('among $there, loose: $isLoose', ({ there, isLoose, found }) => {
    const files = [`${byBoth}.prompt.md`, ...there.map((name) => `${name}.answer.txt`)];

    expect(findAnswer(files, { place: first, hash, isLoose })).toEqual(found);
  });
});
