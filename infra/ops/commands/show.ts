import { refreshRemote } from '#functions/config/remote-documents.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { contentText, type Content } from '#shared/models/content.ts';
import { readHistories } from '#shared/conversation/context/find-history.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { decodeJob, type CompactionRecord } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { indented } from '#infra/terminal-text.ts';
import { conversationArg, opsCommand } from '../command.ts';
import { wholeNumber } from '../arguments.ts';
import { readOwned, type Owned } from '#infra/ops/owner.ts';
import type { Project } from '../project.ts';
import { dollars, figure, toTable, time } from '../screen.ts';

/** Generations of the list, the newest. */
const GENERATIONS_MAX = 10;
/** Turns of one page; each is read whole. */
const TURNS_MAX = 200;

function conversationText(
  { chat }: Project,
  { conversationId, conversation: { value: conversation } }: Owned,
): string {
  const { softThresholdTokens } = conversationPolicy(chat.config, conversation);
  const { coveredThrough, context } = conversation;
  const rows = [
    ['conversation', conversationId],
    ['state', conversation.state],
    ['owner', conversation.ownerUid],
    ['model', `${conversation.model}, profile ${conversation.profile}`],
    ['turns', `${figure(conversation.lastSeq)}, folded through ${coveredThrough.seq}`],
    ['generation', `${conversation.generation}, last change in ${conversation.changedIn}`],
    [
      'context',
      `${figure(context.tokens)} tokens (${context.source}), compacted at ${figure(softThresholdTokens ?? undefined)}`,
    ],
    ['pins', figure(conversation.pins.length)],
    ['created', time(conversation.createTime)],
    ['updated', time(conversation.updateTime)],
  ];
  return rows.map(([name = '', text = '']) => `${name.padEnd(14)}${text}`).join('\n');
}

const turnsText = (turns: readonly Turn[]) =>
  toTable<Turn>(
    [
      { title: 'turn', text: ({ seq }) => String(seq), isFigure: true },
      { title: 'state', text: ({ state }) => state },
      { title: 'attempt', text: ({ attempt }) => String(attempt), isFigure: true },
      { title: 'in context', text: ({ inContext }) => (inContext ? 'yes' : 'no') },
      { title: 'question', text: ({ tokens }) => figure(tokens.user), isFigure: true },
      { title: 'answer', text: ({ tokens }) => figure(tokens.answer), isFigure: true },
      { title: 'cost', text: ({ usage }) => dollars(usage?.costMicros), isFigure: true },
      { title: 'message', text: ({ messageId }) => messageId },
      { title: 'ended', text: ({ finishTime }) => time(finishTime) },
    ],
    turns,
  );

const messageText = (seq: number, content: Content) =>
  `[${seq}] ${content.role}: ${indented(contentText(content))}`;

const saidText = (turns: readonly Turn[]) =>
  turns
    .flatMap(({ seq, user, contents }) =>
      [user, ...contents].map((content) => messageText(seq, content)),
    )
    .join('\n');

const generationsText = (histories: readonly History[]) =>
  toTable<History>(
    [
      { title: 'generation', text: ({ generation }) => String(generation), isFigure: true },
      { title: 'state', text: ({ state }) => state },
      { title: 'strategy', text: ({ strategy }) => strategy },
      { title: 'trigger', text: ({ trigger }) => trigger },
      { title: 'folded', text: ({ turnsFolded }) => figure(turnsFolded), isFigure: true },
      { title: 'before', text: ({ beforeTokens }) => figure(beforeTokens), isFigure: true },
      { title: 'after', text: ({ afterTokens }) => figure(afterTokens), isFigure: true },
      { title: 'cost', text: ({ costMicros }) => dollars(costMicros), isFigure: true },
      { title: 'made', text: ({ createTime }) => time(createTime) },
    ],
    histories,
  );

const recordsText = (records: readonly CompactionRecord[]) =>
  toTable<CompactionRecord>(
    [
      { title: 'attempt', text: ({ requestId }) => requestId },
      { title: 'outcome', text: ({ state }) => state },
      { title: 'reason', text: ({ reason }) => reason ?? '-' },
      { title: 'generation', text: ({ generation }) => figure(generation), isFigure: true },
      { title: 'took', text: ({ durationMs }) => `${figure(durationMs)} ms`, isFigure: true },
      { title: 'ended', text: ({ finishedAt }) => time(finishedAt) },
    ],
    records,
  );

const turnJson = (turn: Turn, withText: boolean) => {
  const {
    user,
    contents,
    surroundings: _surroundings,
    describedClient: _describedClient,
    feedback: _f,
    ...fields
  } = turn;
  return withText ? { ...fields, user, contents } : fields;
};

const historyJson = ({ snapshot: _s, snapshotText: _t, report: _r, ...fields }: History) => fields;

async function readAll(project: Project, owned: Owned, page: { from: number; limit: number }) {
  const { chat } = project;
  const { conversationId, conversation } = owned;
  const { generation, lastSeq } = conversation.value;
  const last = Math.min(lastSeq, page.from + page.limit - 1);
  const seqs = Array.from({ length: Math.max(0, last - page.from + 1) }, (_, i) => page.from + i);
  const newest = Array.from(
    { length: Math.min(GENERATIONS_MAX, generation) },
    (_, i) => generation - i,
  );
  const target = { conversationId, conversation: conversation.value };
  const [turns, histories, [job]] = await Promise.all([
    readTurns(chat.store, conversationId, seqs),
    readHistories(chat, target, newest),
    chat.store.get([compactionJobPath(conversationId)]),
  ]);
  const records = job ? decodeJob(job).value.records : [];
  return { turns: turns.map(({ value }) => value), histories, records };
}

/**
 * One conversation: its conversation document, a page of its turns, its newest generations and attempts at compacting
 * it.
 */
export const showCommand = opsCommand({
  name: 'show',
  description: 'Shows one conversation: figures, and with --text what was said.',
  args: {
    ...conversationArg,
    from: { type: 'string', valueHint: 'N', description: 'first turn (default: the newest ones)' },
    limit: { type: 'string', valueHint: 'N', default: '20', description: 'at most N turns' },
    text: { type: 'boolean', default: false, description: 'what user and model said' },
  },
  async run({ args, project, screen }) {
    const limit = wholeNumber(args.limit, { option: '--limit', least: 1, most: TURNS_MAX });
    await refreshRemote(project.chat.config);
    const owned = await readOwned(project, args.conversation);
    const { lastSeq } = owned.conversation.value;
    const newest = Math.max(1, lastSeq - limit + 1);
    const from =
      args.from === undefined
        ? newest
        : wholeNumber(args.from, { option: '--from', least: 1, most: Math.max(1, lastSeq) });
    const { turns, histories, records } = await readAll(project, owned, { from, limit });
    const {
      systemInstruction: _i,
      serverInstruction: _s,
      toolsJson: _t,
      title: _n,
      pins,
      ...conversation
    } = owned.conversation.value;
    screen.json({
      id: args.conversation,
      head: { ...conversation, pins: pins.length },
      turns: turns.map((turn) => turnJson(turn, args.text)),
      generations: histories.map(historyJson),
      attempts: records,
    });
    screen.print(conversationText(project, owned));
    if (turns.length > 0) screen.print(`\n${turnsText(turns)}`);
    if (histories.length > 0) screen.print(`\n${generationsText(histories)}`);
    if (records.length > 0) screen.print(`\n${recordsText(records)}`);
    if (args.text) screen.print(`\n${saidText(turns)}`);
    return 0;
  },
});
