import { aligned, percentage } from '#infra/text-table.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import type { Compacted } from './methods.ts';
import type { Canary } from './canary.ts';
import { isOutdated, isStated, survives } from './survival.ts';

interface MeasuredCanary extends Canary {
  /** By round: whether the snapshot says it. */
  survived: boolean[];
  /** Whether the last snapshot or what comes back with its question says it; absent: nothing comes back. */
  withRecall?: boolean;
}

export interface Measured {
  method: string;
  canaries: MeasuredCanary[];
  /** Of the snapshot, by round. */
  tokens: number[];
  /** By round, where a compaction was refused. */
  refusals: (string | null)[];
}

const tokensOf = (text: string): number => Math.ceil(estimateTextTokens(text, 'character-class'));

/** What of the canaries each round has left. */
export async function measureCanaries(
  method: string,
  canaries: readonly Canary[],
  { rounds, ask }: Compacted,
): Promise<Measured> {
  const last = rounds.at(-1)?.snapshot ?? '';
  const isWithinReach = (canary: Canary, recalled: string): boolean =>
    survives(canary, last) || (isStated(canary, recalled) && !isOutdated(canary, last));
  const measured: MeasuredCanary[] = [];
  for (const canary of canaries) {
    const survived = rounds.map(({ snapshot }) => survives(canary, snapshot));
    const recalled = await ask?.(canary.question);
    const withRecall = recalled === undefined ? undefined : isWithinReach(canary, recalled);
    measured.push({ ...canary, survived, ...(withRecall !== undefined && { withRecall }) });
  }
  return {
    method,
    canaries: measured,
    tokens: rounds.map(({ snapshot }) => tokensOf(snapshot)),
    refusals: rounds.map(({ refusal }) => refusal ?? null),
  };
}

function row(title: string, canaries: readonly MeasuredCanary[], rounds: number): string[] {
  const isComplete = canaries.every(({ survived }) => survived.length === rounds);
  const recalled = isComplete ? canaries.filter(({ withRecall }) => withRecall !== undefined) : [];
  return [
    title,
    String(canaries.length),
    ...Array.from({ length: rounds }, (_, round) => {
      const known = canaries.filter(({ survived }) => round < survived.length);
      return percentage(known.filter(({ survived }) => survived[round]).length, known.length);
    }),
    percentage(recalled.filter(({ withRecall }) => withRecall).length, recalled.length),
  ];
}

/** The shares that survived, in percent, by type and round. */
export function canaryTable(
  { method, canaries, tokens, refusals }: Measured,
  rounds: number,
): string {
  const numbers = Array.from({ length: rounds }, (_, round) => round);
  const refused = refusals.filter((refusal) => refusal !== null).length;
  return aligned([
    [method, 'planted', ...numbers.map((round) => `round ${round + 1}`), 'with recall'],
    ...[...Map.groupBy(canaries, ({ type }) => type)].map(([type, own]) => row(type, own, rounds)),
    row('all', canaries, rounds),
    ['tokens of the snapshot', '', ...numbers.map((round) => String(tokens[round] ?? '-')), ''],
    ...(refused > 0
      ? [['refused', '', ...numbers.map((round) => refusals[round] ?? '-'), '']]
      : []),
  ]);
}
