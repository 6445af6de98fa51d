import type { Content } from '#shared/conversation/documents/content.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { configOf } from '#test/support/chat/lifecycle.ts';
import {
  buildDue,
  compactOnce,
  overflowRequest,
  see,
  compactionBench,
  type CompactionBench,
} from './compacted-conversation.ts';
import { modelText, type TurnToBuild } from './conversation-builder.ts';

/** One that must come through word for word. */
export const ERROR =
  'TypeError: rack is undefined\n    at place (rack.ts:41)\n    at main (store.ts:7)';

/** 130,000 characters, with one order, one error and one path that matter. */
export const log = (name: string, rows = 4_000) => {
  const lines = Array.from({ length: rows }, (_, row) => `row ${row} of ${name}: all is well`);
  lines[900] = `order TK-88341 of ${name} went to door 17`;
  lines[2_000] = ERROR;
  lines[3_000] = `the list of ${name} is in /srv/store/list-${name}.csv`;
  return lines.join('\n');
};

/** A turn in which a tool gave these outputs, one after the other. */
export const logTurn = (...outputs: readonly string[]): TurnToBuild => {
  const contents = outputs.flatMap((output): Content[] => [
    { role: 'model', parts: [{ functionCall: { name: 'read_log', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'read_log', response: { output } } }] },
  ]);
  return { user: 'Read the log.', answer: [...contents, modelText('I read it.')] };
};

/** What a good model makes of a log. */
export const GOOD = 'Order TK-88341 went to door 17. The list is in /srv/store/list-alpha.csv.';

type Condensing = (request: ModelRequest, signal: AbortSignal) => Promise<string>;

const isCondensing = ({ promptId }: ModelRequest) => promptId.includes('-condense-');

/** A worker whose model summarises well and condenses as told. */
export const benchWith = (
  condense: Condensing = () => Promise.resolve(GOOD),
  settings: Record<string, string> = { CONDENSE_TOOL_OUTPUTS: 'on' },
) =>
  compactionBench({
    config: configOf('ledger', settings),
    model: createScriptedModel({
      answers: [
        (request, signal) =>
          isCondensing(request) ? condense(request, signal) : Promise.resolve(snapshotAnswer()),
      ],
    }),
  });

const THRESHOLD_TOKENS = 24_000;

/** A conversation whose last turn read a very long log, and which overflowed: any saving will do; its id. */
export const buildWithLog = (bench: Pick<CompactionBench, 'store'>) =>
  buildDue(bench, {
    turns: [...Array.from({ length: 30 }, () => ({})), logTurn(log('alpha'))],
    conversation: {
      settings: { thresholdTokens: THRESHOLD_TOKENS },
      compactionRequests: overflowRequest('request-1'),
    },
  });

/** One compaction of a conversation whose last turn read a very long log. */
export async function compactLog(bench: CompactionBench) {
  const conversationId = await buildWithLog(bench);
  const result = await compactOnce(bench, conversationId);
  return { conversationId, result, ...(await see(bench.store, conversationId)) };
}

/** The calls that asked for an output to be condensed. */
export const condensingCalls = ({ model }: CompactionBench) => model.calls.filter(isCondensing);

/** The fields of the log lines of this event. */
export const logged = (bench: CompactionBench, name: string) =>
  bench.logged.filter(({ event }) => event === name).map(({ fields }) => fields);

/** What the report says of one output that was not condensed. */
export const refusedFor = (reason: string) => ({ asked: 1, condensed: 0, reasons: [reason] });
