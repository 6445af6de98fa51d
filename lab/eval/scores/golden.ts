import { withoutFrame } from '#shared/compaction/snapshot-text.ts';
import { contentText } from '#shared/models/content.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { decodeXml } from '#shared/text/escape-xml.ts';
import type { EvalBench } from '../compact/bench.ts';
import { compactGrowing, markedIn } from '../compact/compact-recording.ts';
import type { RecordedTurn } from '../compact/recorded-turns.ts';
import type { CompactionSettings } from '../eval-settings.ts';
import type { Recording } from '../replay/recording.ts';
import { compactingMethods, onBench, tableOf, wantedRecordings, type Scorer } from '../scorer.ts';
import { z } from 'zod';

const expectationsSchema = z.looseObject({
  expected: z.array(z.string()).default([]),
  meta: z.looseObject({ expectedArgs: z.array(z.string()).default([]) }).optional(),
});

/** As texts are compared: a line break or a capital is no difference. */
const plain = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replaceAll(/\s+/gu, ' ').trim();

/** What a snapshot should say: `expected`, `meta.expectedArgs` and answers to `probes`, as far as `folded` has it word for word. */
export function expectationsOf(recording: Recording, folded: string): string[] {
  const { expected, meta } = expectationsSchema.parse(recording);
  const answers = (recording.probes ?? []).map(({ answer }) => String(answer ?? ''));
  const said = plain(folded);
  const all = [...expected, ...(meta?.expectedArgs ?? []), ...answers];
  return [...new Set(all.map(plain))].filter((each) => each !== '' && said.includes(each));
}

const loneTag = /^<\/?[\w-]+>$/;
const bullet = /^[-*•]\s+/u;

/** What a rendered snapshot says, without its frame, its tags, its escapes and the bullets of its lists. */
const statementsOf = (snapshotText: string): string =>
  withoutFrame(snapshotText)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !loneTag.test(line))
    .map((line) => decodeXml(line.replace(bullet, '')))
    .join('\n');

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/**
 * Compacts one recorded conversation, once or as often as it grows, and looks for what must be left. What a snapshot has is
 * absent when its last compaction failed.
 */
export async function compactAndCompare(
  bench: EvalBench,
  settings: CompactionSettings,
  recording: Recording,
) {
  const { turns, generations } = await compactGrowing(bench, settings, recording);
  const last = generations.at(-1);
  const histories = generations.flatMap(({ history }) => history ?? []);
  return {
    id: recording.id,
    strategy: bench.strategy,
    state: last?.state ?? 'NOTHING',
    ...(last?.reason !== undefined && { reason: last.reason }),
    /** Compactions that swapped. */
    generations: histories.length,
    /** Of all compactions together, as are the calls and their tokens. */
    marked: sum(histories.map(markedIn)),
    calls: sum(generations.map(({ modelCalls }) => modelCalls)),
    promptTokens: sum(histories.map(({ usage }) => usage.promptTokens)),
    outputTokens: sum(histories.map(({ usage }) => usage.outputTokens)),
    ...leftIn(last?.history, { recording, turns }),
  };
}

/** What of a recording its snapshot says, and what it should say and does not. */
function leftIn(
  history: History | undefined,
  { recording, turns }: { recording: Recording; turns: readonly RecordedTurn[] },
) {
  if (history === undefined) return { expected: 0, missing: [] };
  /** Index into the recording of what stays word for word. */
  const keepFrom = turns[history.coveredThrough.seq]?.firstIndex ?? recording.turns.length;
  const folded = recording.turns.slice(0, keepFrom).map(wholeText).join('\n');
  const expectations = expectationsOf(recording, folded);
  const snapshot = statementsOf(history.snapshotText);
  const { beforeTokens, afterTokens, snapshotTokens } = history;
  return {
    keepFrom,
    snapshot,
    beforeTokens,
    afterTokens,
    snapshotTokens,
    expected: expectations.length,
    missing: expectations.filter((each) => !plain(snapshot).includes(each)),
  };
}

type GoldenResult = Awaited<ReturnType<typeof compactAndCompare>>;

/** Texts, and what was called and returned as JSON. */
const wholeText = ({ role, parts }: Recording['turns'][number]): string =>
  [
    contentText({ role, parts }),
    ...parts.flatMap(({ functionCall, functionResponse }) =>
      [functionCall?.args, functionResponse?.response].flatMap((each) =>
        each === undefined ? [] : [JSON.stringify(each)],
      ),
    ),
  ].join('\n');

/** Expectations of each recording are in its snapshot. */
export const scoreGolden: Scorer = async (settings, files) => {
  const recordings = wantedRecordings(settings, files);
  const results: GoldenResult[] = [];
  for (const { method, compaction } of compactingMethods(settings)) {
    await onBench(settings, method, async (bench) => {
      for (const recording of recordings) {
        results.push(await compactAndCompare(bench, compaction, recording));
        process.stderr.write(`${results.length} ${recording.id}\n`);
      }
    });
  }
  return {
    text: tableOf(
      results.map((each) => ({
        ...each,
        snapshot: undefined,
        found: each.expected - each.missing.length,
      })),
    ),
    figures: { results },
    isGood: results.every(
      ({ snapshot, missing }) => snapshot !== undefined && missing.length === 0,
    ),
  };
};
