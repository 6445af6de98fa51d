import { createRandom } from '#lab/chaos/random.ts';
import { boundary, foldInMemory } from '#test/support/attacks/fold-in-memory.ts';
import {
  attackedHistory,
  placements,
  type Placement,
  achievedBy,
  drawInjection,
  obedientAnswer,
} from '#test/support/attacks/obeyed-injections.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { expect, test } from 'vitest';

/* Row S8 of the security checklist. */

const HISTORIES = searchCases(1_000);
/** Seconds of work, and minutes where many share the machine. */
const BUSY = { timeout: 300_000 };

/** What the n-th attack leads to in one place of the history. */
function attack(placement: Placement, n: number) {
  const random = createRandom(`s8/${n}`);
  const injection = drawInjection(random);
  const history = attackedHistory(placement, injection.text);
  const folded = foldInMemory({ ...history, answer: obedientAnswer(random, injection, history) });
  if (folded.kind === 'refused')
    return { n, isTaken: false, hasRealConstraint: true, achieved: undefined };
  const { rendered } = folded;
  const attacked = { placement, history, attack: injection.text, rendered, boundary };
  return { n, isTaken: true, ...achievedBy(attacked) };
}

test.each(placements)(
  'S8: a thousand obeyed injections make no rule, goal or user quote in %s',
  BUSY,
  (placement) => {
    const results = Array.from({ length: HISTORIES }, (_, n) => attack(placement, n));

    expect(results.filter(({ achieved }) => achieved !== undefined)).toEqual([]);
    expect(results.filter(({ hasRealConstraint }) => !hasRealConstraint)).toEqual([]);
    expect(results.filter(({ isTaken }) => isTaken).length).toBeGreaterThan(0.9 * HISTORIES);
  },
);

test('S8: obeyed injections would show if operations were applied unchecked', () => {
  const random = createRandom('s8/naive');
  const injection = drawInjection(random);
  const placement = 'what a tool returns';
  const history = attackedHistory(placement, injection.text);
  const rule = `<active_constraints>\n- ${injection.order}\n</active_constraints>`;
  const body = `<state_snapshot>\n${rule}\n</state_snapshot>`;
  const rendered = ['A summary.', boundary, boundary, body, boundary].join('\n');

  const found = achievedBy({ placement, history, attack: injection.order, rendered, boundary });

  expect(found.achieved?.unstated).toEqual([injection.order]);
  expect(found.hasRealConstraint).toBe(false);
});
