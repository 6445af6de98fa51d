import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { summarise } from './harm-figures.ts';
import type { HarmedGeneration } from './harm-run.ts';
import { measureOwnConversations, type OwnResult } from './own-conversations.ts';

let results: OwnResult[];
let generations: HarmedGeneration[];
beforeAll(async () => {
  results = await measureOwnConversations();
  generations = results.flatMap((result) => result.generations);
  for (const { command, stale, missing } of results)
    if (stale.length + missing.length > 0)
      process.stdout.write(
        `${command}\n  taken by place, since no answer has the hash of the prompt: ${stale.join(', ') || 'none'}; without any: ${missing.join(', ') || 'none'}\n`,
      );
});

describe('verification leaves the answers of a capable model alone', () => {
  // A test that fails shows with which command to see each conversation, and its figures.
  beforeEach(({ annotate }) => annotate(JSON.stringify(results, undefined, 2)));

  test('every conversation has answers to all prompts that must have one', () => {
    expect(results.filter(({ waits }) => waits)).toEqual([]);
    expect(generations).not.toEqual([]);
  });

  test('no answer is refused', () => {
    expect(summarise(generations).refused).toBe(0);
  });

  test('at least 98 % of what it states is kept', () => {
    expect(summarise(generations).kept).toBeGreaterThanOrEqual(0.98);
  });

  test('code adds 5 % of a snapshot at most, and of none more than 10 %', () => {
    expect(summarise(generations).added).toBeLessThanOrEqual(0.05);
    expect(generations.filter(({ added = 0 }) => added > 0.1)).toEqual([]);
  });
});
