import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import { isUnderWay, LEAST_THRESHOLD_TOKENS } from '#web/state/context/compaction-steps.ts';
import type { Bench } from '../bench.ts';
import { labMessage, type LabMessage } from '../lab-messages.ts';

/** More than enough, even where tools are declared: they weigh, and a fold that would win too little is not asked for. */
const MESSAGES_MAX = 24;

/** Says orders until a compaction is asked for; returns them. */
export async function talkOverThreshold(bench: Bench): Promise<LabMessage[]> {
  const said: LabMessage[] = [];
  for (let index = 0; index < MESSAGES_MAX; index += 1) {
    const message = labMessage(index);
    said.push(message);
    await bench.say(message.text);
    const { context } = await bench.api.read();
    if (context.compaction !== null) return said;
  }
  throw new Error(
    `${MESSAGES_MAX} messages asked for no compaction at ${LEAST_THRESHOLD_TOKENS} tokens`,
  );
}

/** Waits until a compaction has ended, however it did; its record. */
export const endedCompaction = (bench: Bench): Promise<CompactionRecordView> =>
  bench.until(async () => {
    const { compactions } = await bench.api.compactions();
    return compactions.find((record) => !isUnderWay(record));
  }, 120_000);

export const countSwaps = (records: readonly CompactionRecordView[]): number =>
  records.filter(({ state }) => state === 'COMPACTED').length;

/** Texts of the context, as the model sees them: of all of it, or of one kind of item. */
export async function contextText(bench: Bench, kind?: 'snapshot'): Promise<string | undefined> {
  const { items } = await bench.api.context();
  const chosen = items.filter((item) => kind === undefined || item.kind === kind);
  if (chosen.length === 0) return undefined;
  return chosen
    .flatMap(({ content }) =>
      typeof content === 'object' && 'parts' in content
        ? content.parts.map(({ text }) => text ?? '')
        : [],
    )
    .join('\n');
}
