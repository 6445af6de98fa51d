import { z } from 'zod';
import { snapshotConstants } from '../../../../shared/compaction/snapshot-constants.ts';
import { factSupportOf, type FactSupport } from '../../../../shared/compaction/fact-support.ts';
import { identifiersIn } from '../../../../shared/compaction/facts.ts';
import { countingOf, type FoldPlan } from '../../../../shared/compaction/plan.ts';
import type { SnapshotSections } from '../../../../shared/compaction/snapshot-sections.ts';
import { verifySnapshot, type Verification } from '../../../../shared/compaction/verification.ts';
import { hasMedia, stringsIn } from '../../../../shared/conversation/content-strings.ts';
import { contentText } from '../../../../shared/conversation/content.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import { snapshotTexts } from '../../../../shared/conversation/snapshot.ts';
import { pinsAfterFold } from '../pins-after-fold.ts';
import type { ClaimedRun } from '../run.ts';

const statedSchema = z.array(z.object({ seq: z.number(), text: z.string() }));
type Stated = z.infer<typeof statedSchema>;

/** Identifiers that the user stated in turns which earlier generations folded. */
function statedEarlier(history: History | undefined): Stated {
  const stated = statedSchema.safeParse(history?.report['statedIdentifiers']);
  return stated.success ? stated.data : [];
}

const statedIn = (plan: Pick<FoldPlan, 'folded'>): Stated =>
  plan.folded.map(({ seq, user }) => ({ seq, text: contentText(user) }));

/** As many of a list as a report has room for: from the last one back, without what is too long. */
export function withinReport<T>(list: readonly T[]): T[] {
  let room: number = snapshotConstants.identifierListCharacters.value;
  const kept: T[] = [];
  for (const entry of list.toReversed()) {
    const characters = JSON.stringify(entry).length + 1;
    if (characters > room) continue;
    room -= characters;
    kept.push(entry);
  }
  return kept.toReversed();
}

/** What the next generation has to keep checking: the newest, as far as the report has room. */
export function statedAfter(history: History | undefined, plan: Pick<FoldPlan, 'folded'>): Stated {
  const { statedIdentifierCharacters, statedIdentifierLimit } = snapshotConstants;
  const own = statedIn(plan).flatMap(({ seq, text }) =>
    identifiersIn(text).map((identifier) => ({ seq, text: identifier })),
  );
  const short = own.filter(({ text }) => text.length <= statedIdentifierCharacters.value);
  return withinReport([...statedEarlier(history), ...short].slice(-statedIdentifierLimit.value));
}

/** The only fault is identifiers that did not fit: a better summary can cure it, or a bare list. */
export const lacksOnly = ({ problems }: Verification) =>
  problems.length === 1 && problems[0] === 'MISSING_IDENTIFIERS';

/** A better summary can cure it. */
export const isCurable = ({ problems }: Verification) =>
  problems.length > 0 &&
  problems.every((problem) => problem === 'MISSING_IDENTIFIERS' || problem === 'UNSUPPORTED_FACTS');

/** What the snapshots of one run are checked against. */
export interface Checking {
  run: ClaimedRun;
  plan: FoldPlan;
  stated: { earlier: Stated; own: Stated };
  keptTexts: string[];
  support: FactSupport | undefined;
}

/** Reads what a plan folds and keeps, once for all checks of its snapshot. */
export function checkingOf(run: ClaimedRun, plan: FoldPlan): Checking {
  const { reading, need } = run;
  const keptContents = plan.tail
    .filter(({ inContext }) => inContext)
    .flatMap(({ user, contents }) => [user, ...contents]);
  const keptTexts = [
    ...pinsAfterFold(run, plan).pins.map(({ text }) => text),
    ...keptContents.map(contentText),
  ];
  const stated = { earlier: statedEarlier(reading.history), own: statedIn(plan) };
  const sources = () => [
    ...stringsIn(plan.contents),
    ...stringsIn(keptContents),
    ...keptTexts,
    ...(reading.history?.snapshot ? snapshotTexts(reading.history.snapshot) : []),
    ...[...stated.earlier, ...stated.own].map(({ text }) => text),
    ...(need.focus === undefined ? [] : [need.focus]),
  ];
  const support = plan.contents.some(hasMedia) ? undefined : factSupportOf(sources());
  return { run, plan, stated, keptTexts, support };
}

function verify(
  { run, keptTexts, support }: Checking,
  input: { sections: SnapshotSections; stated: Stated },
): Verification {
  const { head, policy } = run.reading;
  return verifySnapshot({
    sections: input.sections,
    foldedUserTexts: input.stated,
    keptTexts,
    support,
    snapshotBudgetTokens: policy.snapshotBudgetTokens,
    rule: countingOf(policy, head.value.model),
  });
}

/**
 * The snapshot with every identifier that is missing named in one line, which needs a fraction of the
 * room of sentences; undefined when even that makes it too large.
 */
function listed(
  checking: Checking,
  input: { sections: SnapshotSections; stated: Stated },
): Verification | undefined {
  const { missingIdentifiers } = verify(checking, input);
  const line = `The user also stated: ${missingIdentifiers.join(', ')}`;
  const key_knowledge = [input.sections.key_knowledge, line]
    .filter((text) => text !== '')
    .join('\n');
  const verification = verify(checking, {
    ...input,
    sections: { ...input.sections, key_knowledge },
  });
  return verification.ok ? verification : undefined;
}

/**
 * Verifies a snapshot against what the user stated in the folded turns and, as far as there is room,
 * against what was stated before them, so that nothing fades from generation to generation.
 */
export function checkSnapshot(checking: Checking, sections: SnapshotSections): Verification {
  const { own, earlier } = checking.stated;
  const stated = [...earlier, ...own];
  const complete = verify(checking, { sections, stated });
  if (!isCurable(complete)) return complete;
  const recent = verify(checking, { sections, stated: own });
  // What is old and does not fit as sentences is not worth a call, but a line.
  return recent.ok ? (listed(checking, { sections, stated }) ?? recent) : recent;
}

/**
 * The last resort for a snapshot that `lacksOnly` identifiers: names what is missing as a list. Where even the list
 * is too long for the snapshot's ceiling, what does not fit stands in the report and in the transcript:
 * refusing would leave such a conversation without any compaction.
 */
export function listMissing(
  checking: Checking,
  checked: { sections: SnapshotSections; verification: Verification },
): Verification {
  const { sections, verification } = checked;
  if (!lacksOnly(verification)) return verification;
  const { own, earlier } = checking.stated;
  return (
    listed(checking, { sections, stated: [...earlier, ...own] }) ??
    listed(checking, { sections, stated: own }) ?? { ...verification, ok: true, problems: [] }
  );
}
