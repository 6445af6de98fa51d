import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AnswerFolder, countedIds } from './answer-folder.ts';

describe('a folder of answers', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recap-answers-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  function opened({ isLoose } = { isLoose: false }) {
    const answers = new AnswerFolder(folder, isLoose);
    answers.beginConversation({ id: 'a/1', strategy: 'ledger' });
    return answers;
  }
  const asking = (text: string, promptId = 'compress-1') => ({
    promptId,
    systemInstruction: 'Sum up.',
    contents: [{ role: 'user' as const, parts: [{ text }] }],
    responseJsonSchema: { type: 'object' },
  });
  const promptFiles = async () => (await readdir(folder)).filter((name) => name.endsWith('.md'));

  test('is given a prompt with all that is needed, and gives the answer without its fence', async () => {
    const first = opened();
    expect(await first.answer(asking('Hello'))).toBeUndefined();
    const [name = ''] = await promptFiles();
    expect(name).toMatch(/^a_1\.ledger\.g1\.main\.[0-9a-f]{12}\.prompt\.md$/u);
    const prompt = await readFile(join(folder, name), 'utf8');
    for (const part of ['Sum up.', '### user\nHello', '{"type":"object"}'])
      expect(prompt).toContain(part);
    expect(first.isWaiting()).toBe(true);
    expect(first.describe()).toContain(join(folder, name));

    const answerPath = join(folder, name.replace('.prompt.md', '.answer.txt'));
    await writeFile(answerPath, '```json\n{"operations":[]}\n```\n');
    const second = opened();

    expect(await second.answer(asking('Hello'))).toBe('{"operations":[]}');
    expect(second.isWaiting()).toBe(false);
    expect(second.describe()).toBe('');
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
    expect(answers.describe()).toContain('have changed: a_1.ledger.g2.main');
  });
});
