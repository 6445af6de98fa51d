import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import { readCheckOutcome } from '#web/state/report.ts';
import { storedMessages, messageText, type Bench } from '../bench.ts';
import { judgeInventive } from '../compaction-verdicts.ts';
import type { Verdict } from '../finding.ts';
import { contextText, endedCompaction, talkOverThreshold } from './compacting.ts';

/** How many values the report of a compaction names as said by nobody; 0 without a report. */
function markedIn(record: CompactionRecordView): number {
  const outcome = readCheckOutcome(record);
  return outcome.kind === 'checked' ? outcome.report.markedCount : 0;
}

/** A message with its day: “this month” may stand in a snapshot as a date. */
const saidAt = (message: MessageView): string =>
  `${messageText(message)} ${message.createTime.slice(0, 'yyyy-mm-dd'.length)}`;

/** The statements of a snapshot; the line that frames it is drawn at random. */
const statementsOf = (snapshot: string | undefined): string | undefined =>
  snapshot && /<state_snapshot>[^]*<\/state_snapshot>/.exec(snapshot)?.[0];

/** Has the summariser alter a number. */
export async function inventiveSummary(bench: Bench): Promise<Verdict> {
  await bench.supervisor.vices({ inventive: true });
  await talkOverThreshold(bench);
  const record = await endedCompaction(bench);
  return judgeInventive({
    snapshot: statementsOf(await contextText(bench, 'snapshot')),
    transcript: (await storedMessages(bench)).map(saidAt).join('\n'),
    marked: markedIn(record),
  });
}
