import {
  constraintSection,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { constraintLimit, type ConstraintRoom } from '../budget/bound-constraints.ts';
import { sectionsWithoutCopies } from '../operations/constraint-copies.ts';
import type { MissingConstraint } from './missing-constraints.ts';
import { lineTokens } from './repair-candidates.ts';
import { verbatimFields, type VerbatimSentence } from '../items/verbatim-item.ts';

interface ConstraintRepair {
  snapshot: Snapshot;
  /** Now said by a constraint, oldest first. */
  added: VerbatimSentence[];
  tokens: number;
  /** For these there was no room. */
  leftOut: VerbatimSentence[];
}

const constraintsOf = (snapshot: Snapshot): readonly Item[] =>
  snapshot.sections[constraintSection] ?? [];

/** What the constraints of a snapshot may still grow by: up to their share of its budget. */
function tokensLeft(snapshot: Snapshot, room: ConstraintRoom): number {
  const lines = constraintsOf(snapshot).map(
    ({ text }) => `- ${text}
`,
  );
  return Math.floor(constraintLimit(room)) - estimateTextTokens(lines.join(''), room.counting);
}

/** The newest come first where not all fit: they win over older ones. */
function divide(
  missing: readonly MissingConstraint[],
  roomTokens: number,
  counting: TokenCounting,
) {
  const fitting = new Set<MissingConstraint>();
  let tokens = 0;
  for (const one of missing.toReversed()) {
    const cost = lineTokens(one.sentence, counting);
    if (tokens + cost > roomTokens) continue;
    tokens += cost;
    fitting.add(one);
  }
  return { fitting, tokens };
}

/**
 * Adds what the user wants always or never as constraints, in the user's words with their turn; a
 * constraint that quoted part of such a sentence gets the whole. All of them, as long as the constraints
 * take no more than their share of the budget. What code had put elsewhere in the same words goes.
 */
export function repairConstraints(
  snapshot: Snapshot,
  missing: readonly MissingConstraint[],
  room: ConstraintRoom,
): ConstraintRepair {
  const { fitting, tokens } = divide(missing, tokensLeft(snapshot, room), room.counting);
  let items = constraintsOf(snapshot);
  let { nextId } = snapshot;
  const rewritten = new Set<string>();
  const added: VerbatimSentence[] = [];
  for (const one of missing) {
    if (!fitting.has(one)) continue;
    const fields = verbatimFields(one.sentence);
    added.push(one.sentence);
    // One sentence takes the place of the item; further ones stand beside it.
    if (one.itemId !== undefined && !rewritten.has(one.itemId)) {
      rewritten.add(one.itemId);
      items = items.map((item) => (item.id === one.itemId ? { ...item, ...fields } : item));
    } else items = [...items, { id: `i${nextId++}`, ...fields, importance: 3 }];
  }
  return {
    snapshot:
      added.length === 0
        ? snapshot
        : {
            ...snapshot,
            sections: {
              ...sectionsWithoutCopies(snapshot, added),
              [constraintSection]: [...items],
            },
            nextId,
          },
    added,
    tokens,
    leftOut: missing.filter((one) => !fitting.has(one)).map(({ sentence }) => sentence),
  };
}
