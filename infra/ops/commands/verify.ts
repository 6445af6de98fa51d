import { inParallel } from '#functions/lib/promises.ts';
import { refreshRemote } from '#functions/config/remote-policy.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { opsCommand, pageArgs } from '../command.ts';
import { ArgumentError, wholeNumber } from '../arguments.ts';
import { conversationIds } from '../conversation-ids.ts';
import type { Project } from '../project.ts';
import { counted, figure, type Screen } from '../screen.ts';
import type { Checking } from '../verify/check-all.ts';
import { retiredSettings } from '../retired-models.ts';
import { OVERDUE_MS } from '../verify/check-requests.ts';
import type { Reading } from '../verify/load/load-conversation.ts';
import { verifyConversation, type Verified } from '../verify/verify-conversation.ts';

/** Conversations that are looked at side by side. */
const AT_ONCE = 8;
const LIMIT_MAX = 1_000_000_000;

const readingOf = (
  { chat, hasKeys, tree, askContext }: Project,
  overdueMs: number,
): Reading & Checking => ({
  store: chat.store,
  config: chat.config,
  sha256: chat.sha256,
  signer: chat.signer,
  hasKeys,
  askContext,
  collectionsBelow: tree && ((path) => tree.collectionsBelow(path)),
  now: () => chat.clock.now(),
  policyOf: (conversation) => conversationPolicy(chat.config, conversation),
  overdueMs,
});

/** Of conversations that are as they should be, those that were named. */
function tell(screen: Screen, verified: Verified, isNamed: boolean): void {
  const { conversationId, state, findings, turns, generations, isBusy } = verified;
  screen.json(verified);
  if (isBusy)
    screen.print(`${conversationId}  changed all the while it was read; look again later`);
  if (findings.length === 0 && !isNamed) return;
  screen.print(
    state === 'none'
      ? `${conversationId}  there is none`
      : `${conversationId}  ${state}, ${counted(turns, 'turn')}, ${counted(generations, 'generation')}`,
  );
  for (const { invariant, name, path, is, shouldBe, remedy } of findings)
    screen.print(
      `  ${invariant} ${name}  ${path}\n     is:        ${is}\n     should be: ${shouldBe}\n     remedy:    ${remedy}`,
    );
}

interface Sums {
  looked: number;
  wrong: number;
  findings: number;
  last: string | undefined;
}

/** What a conversation cost may be a defect of one alone: the others are looked at all the same. */
async function verifyEach(
  reading: Reading & Checking,
  screen: Screen,
  ids: readonly string[],
): Promise<(Verified | { conversationId: string; error: string })[]> {
  return inParallel(ids, AT_ONCE, async (conversationId) => {
    try {
      return await verifyConversation(reading, conversationId);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      screen.note(`${conversationId} could not be read: ${text}`);
      return { conversationId, error: text };
    }
  });
}

async function verifyAll(
  input: { project: Project; screen: Screen; overdueMs: number; isNamed: boolean },
  pages: AsyncIterable<readonly string[]>,
): Promise<Sums> {
  const { project, screen } = input;
  const reading = readingOf(project, input.overdueMs);
  const sums: Sums = { looked: 0, wrong: 0, findings: 0, last: undefined };
  for await (const ids of pages) {
    for (const verified of await verifyEach(reading, screen, ids)) {
      sums.looked += 1;
      sums.last = verified.conversationId;
      if ('error' in verified) {
        sums.wrong += 1;
        continue;
      }
      sums.wrong += verified.findings.length > 0 ? 1 : 0;
      sums.findings += verified.findings.length;
      tell(screen, verified, input.isNamed);
    }
    screen.progress(
      `${counted(sums.looked, 'conversation')}, ${counted(sums.findings, 'finding')}; go on with --after ${sums.last}`,
    );
  }
  return sums;
}

async function* onePage(ids: readonly string[]): AsyncGenerator<readonly string[]> {
  yield await Promise.resolve(ids);
}

/** Checks what the documents of conversations say against the invariants. Changes nothing. */
export const verifyCommand = opsCommand({
  name: 'verify',
  description:
    'Checks invariants I1 to I9 of conversations, and whether settings name retired models; changes nothing.',
  args: {
    conversation: { type: 'positional', required: false, description: 'id; more may follow' },
    all: { type: 'boolean', default: false, description: 'all conversations' },
    ...pageArgs(String(LIMIT_MAX)),
    orphans: {
      type: 'boolean',
      default: false,
      description: 'with --all: also what stands below heads that are not there',
    },
    'overdue-minutes': {
      type: 'string',
      valueHint: 'N',
      default: String(OVERDUE_MS / 60_000),
      description: 'how long a need or an ended lease may wait',
    },
  },
  async run({ args, project, screen }) {
    const limit = wholeNumber(args.limit, { option: '--limit', least: 1, most: LIMIT_MAX });
    const option = '--overdue-minutes';
    const minutes = wholeNumber(args['overdue-minutes'], { option, least: 1, most: 100_000 });
    const ids = args._;
    if (ids.length > 0 === args.all)
      throw new ArgumentError('verify takes ids of conversations, or --all');
    if (args.orphans && !project.tree)
      throw new ArgumentError('--orphans needs a database that lists missing documents');
    if (!project.hasKeys)
      screen.note('SNAPSHOT_KEYS is not known here (--env-file): no signature is looked at');
    await refreshRemote(project.chat.config);
    for (const line of retiredSettings(project.chat.config)) screen.note(line);
    const pages = args.all
      ? conversationIds(project, { after: args.after, limit, isWithOrphans: args.orphans })
      : onePage(ids);
    const input = { project, screen, overdueMs: minutes * 60_000, isNamed: !args.all };
    const { looked, wrong, findings } = await verifyAll(input, pages);
    screen.print(
      `${counted(looked, 'conversation')}, ${wrong === 0 ? 'all as they should be' : `${figure(wrong)} of them with ${counted(findings, 'finding')}`}`,
    );
    return wrong === 0 ? 0 : 1;
  },
});
