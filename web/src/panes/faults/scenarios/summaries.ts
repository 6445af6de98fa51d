import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import { storedMessages, messageText, type Bench } from '../bench.ts';
import { judgeForgetful, judgeInventive } from '../compaction-verdicts.ts';
import type { Verdict } from '../finding.ts';
import { contextText, endedCompaction, talkOverThreshold } from './compacting.ts';

/** Shares of the statements and of the numbers. */
const FORGETFUL = 0.7;
const INVENTIVE = 0.6;

/** A count in the report of a compaction, such as `precision.dropped`; 0 where there is none. */
function countIn({ report }: CompactionRecordView, section: string, name: string): number {
  const found: unknown = report?.[section];
  if (typeof found !== 'object' || found === null || !(name in found)) return 0;
  const count: unknown = Reflect.get(found, name);
  return typeof count === 'number' ? count : 0;
}

/** Has the summariser leave out most of what was said. */
export async function forgetfulSummary(bench: Bench): Promise<Verdict> {
  await bench.supervisor.vices({ forgetful: FORGETFUL });
  const said = await talkOverThreshold(bench);
  const record = await endedCompaction(bench);
  const isSwapped = record.state === 'COMPACTED';
  return judgeForgetful({
    stated: said.map(({ name }) => name),
    context: (await contextText(bench)) ?? '',
    broughtBack: isSwapped
      ? countIn(record, 'verbatim', 'added') + countIn(record, 'verbatim', 'archived')
      : undefined,
  });
}

/** A message with its day: “this month” may stand in a snapshot as a date. */
const saidAt = (message: MessageView): string =>
  `${messageText(message)} ${message.createTime.slice(0, 'yyyy-mm-dd'.length)}`;

/** The statements of a snapshot; the line that frames it is drawn at random. */
const statementsOf = (snapshot: string | undefined): string | undefined =>
  snapshot && /<state_snapshot>[^]*<\/state_snapshot>/.exec(snapshot)?.[0];

/** Has the summariser alter most of the numbers. */
export async function inventiveSummary(bench: Bench): Promise<Verdict> {
  await bench.supervisor.vices({ inventive: INVENTIVE });
  await talkOverThreshold(bench);
  const record = await endedCompaction(bench);
  return judgeInventive({
    snapshot: statementsOf(await contextText(bench, 'snapshot')),
    transcript: (await storedMessages(bench)).map(saidAt).join('\n'),
    repaired: countIn(record, 'precision', 'repaired'),
    dropped: countIn(record, 'precision', 'dropped'),
  });
}
