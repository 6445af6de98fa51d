import { counted, figure } from '../screen.ts';
import { leftReasons, type LeftReason } from './import-decision.ts';
import type { Imported } from './import-discussion.ts';
import { skippedReasons, type SkippedReason } from './source-message.ts';

/** Paths that are told of each reason; of more it is told how many. */
const TOLD_MAX = 10;

/** Reasons that make the command fail; `continued` and `deleted` are none, for users did that in Recap. */
const FAILURES: ReadonlySet<LeftReason> = new Set([
  'other-owner',
  'source-changed',
  'too-long',
  'too-large',
]);

interface Told {
  count: number;
  first: string[];
}

/** What an import came to. */
interface Tally {
  discussions: number;
  created: number;
  extended: number;
  unchanged: number;
  empty: number;
  turns: number;
  left: Partial<Record<LeftReason, Told>>;
  skipped: Partial<Record<SkippedReason, Told>>;
}

export const newTally = (): Tally => ({
  discussions: 0,
  created: 0,
  extended: 0,
  unchanged: 0,
  empty: 0,
  turns: 0,
  left: {},
  skipped: {},
});

function note<Reason extends string>(
  reasons: Partial<Record<Reason, Told>>,
  reason: Reason,
  path: string,
): void {
  const told = (reasons[reason] ??= { count: 0, first: [] });
  told.count += 1;
  if (told.first.length < TOLD_MAX) told.first.push(path);
}

/** Adds what became of one discussion. */
export function addToTally(tally: Tally, collection: string, imported: Imported): void {
  tally.discussions += 1;
  tally.turns += imported.turns;
  if (imported.kind !== 'left') tally[imported.kind] += 1;
  else if (imported.reason) note(tally.left, imported.reason, collection);
  for (const [path, reason] of imported.skipped) note(tally.skipped, reason, path);
}

export const hasFailures = ({ left }: Tally): boolean =>
  [...FAILURES].some((reason) => left[reason] !== undefined);

export const progressText = ({ discussions, turns }: Tally): string =>
  `${counted(discussions, 'discussion')}, ${counted(turns, 'turn')}`;

function reasonLines<Reason extends string>(
  noun: string,
  told: Partial<Record<Reason, Told>>,
  meanings: Readonly<Record<Reason, string>>,
): string[] {
  return Object.keys(meanings).flatMap((key) => {
    const reason = key as Reason;
    const found = told[reason];
    if (!found) return [];
    const more = found.count - found.first.length;
    return [
      `${counted(found.count, noun)} left out (${reason}): ${meanings[reason]}`,
      ...found.first.map((path) => `  ${path}`),
      ...(more > 0 ? [`  and ${figure(more)} more`] : []),
    ];
  });
}

export function tallyText(tally: Tally, isMeant: boolean): string {
  const { discussions, created, extended, unchanged, empty, turns } = tally;
  const would = isMeant ? '' : 'would be ';
  return [
    `${counted(discussions, 'discussion')}: ${figure(created)} ${would}created, ${figure(extended)} ${would}extended, ${figure(unchanged)} unchanged, ${figure(empty)} without a message; ${counted(turns, 'turn')} ${would}written`,
    ...reasonLines('discussion', tally.left, leftReasons),
    ...reasonLines('document', tally.skipped, skippedReasons),
    ...(isMeant ? [] : ['--yes does it']),
  ].join('\n');
}
