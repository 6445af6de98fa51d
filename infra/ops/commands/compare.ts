import { selectVariant } from '#functions/config/conversation-policy.ts';
import { inParallel } from '#functions/lib/promises.ts';
import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { decodeHistory, type History } from '#shared/conversation/documents/history.ts';
import { decodeJob } from '#shared/conversation/documents/job.ts';
import {
  compactionJobPath,
  conversationPath,
  historiesCollection,
} from '#shared/conversation/documents/paths.ts';
import { readRatings } from '#shared/conversation/documents/rating.ts';
import { opsCommand, pageArgs } from '../command.ts';
import { wholeNumber } from '../arguments.ts';
import {
  FEW_ATTEMPTS,
  variantFigures,
  readOutcomes,
  type ComparedOutcome,
  type RunningSums,
  type VariantFigures,
} from '../compare-outcomes.ts';
import { conversationIds } from '../conversation-ids.ts';
import { readPages } from '../pages.ts';
import type { Project } from '../project.ts';
import { counted, dollars, figure, toTable } from '../screen.ts';
import { isUnreadable } from '../verify/load/load-turns.ts';

const AT_ONCE = 8;
const HISTORIES_PER_PAGE = 10;
const LIMIT_MAX = 1_000_000;

const percent = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(0)} %`;

const rounded = (value: number | undefined, digits = 0): string =>
  value === undefined ? '-' : value.toFixed(digits);

const savedOf = ({ meanBeforeTokens: before, meanAfterTokens: after }: VariantFigures): string =>
  before === undefined || after === undefined ? '-' : percent(before - after, before);

const tableText = (figures: readonly VariantFigures[]) =>
  toTable<VariantFigures>(
    [
      { title: 'variant', text: ({ variant }) => variant || '(own settings)' },
      { title: 'conversations', text: (row) => figure(row.conversations), isFigure: true },
      { title: 'attempts', text: ({ attempts }) => figure(attempts), isFigure: true },
      { title: 'compacted', text: (row) => percent(row.compacted, row.attempts), isFigure: true },
      { title: 'failed', text: (row) => percent(row.failed, row.attempts), isFigure: true },
      { title: 'refused', text: (row) => percent(row.refused, row.attempts), isFigure: true },
      { title: 'nothing', text: (row) => percent(row.nothing, row.attempts), isFigure: true },
      { title: 'before', text: (row) => rounded(row.meanBeforeTokens), isFigure: true },
      { title: 'after', text: (row) => rounded(row.meanAfterTokens), isFigure: true },
      { title: 'saved', text: savedOf, isFigure: true },
      { title: 'cost', text: (row) => dollars(row.meanCostMicros), isFigure: true },
      {
        title: 'rating (n)',
        text: (row) => `${rounded(row.meanScore, 1)} (${row.ratings})`,
        isFigure: true,
      },
    ],
    figures,
  );

async function historiesOf({ chat }: Project, conversationId: string): Promise<History[]> {
  const query = { collection: historiesCollection(conversationId), limit: HISTORIES_PER_PAGE };
  const found: History[] = [];
  for await (const page of readPages(chat.store, query))
    // Only figures are kept: texts of thousands of conversations are no matter of memory then.
    found.push(
      ...page.map((document) => ({
        ...decodeHistory(document),
        snapshotText: '',
        snapshot: null,
        masks: [],
      })),
    );
  return found;
}

/** Variant and attempts of one conversation; undefined where it is gone. */
async function compareOne(
  project: Project,
  conversationId: string,
): Promise<{ variant: string; outcomes: ComparedOutcome[] } | 'unreadable' | undefined> {
  const { chat } = project;
  const [conversation, job] = await chat.store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  try {
    const decoded = conversation && decodeConversation(conversation).value;
    if (!decoded || (decoded.state !== 'live' && decoded.state !== 'deleted')) return undefined;
    const histories = await historiesOf(project, conversationId);
    const generations = histories.map(({ generation }) => generation);
    const ratings = await readRatings(chat.store, conversationId, generations);
    const records = job ? decodeJob(job).value.records : [];
    const variant = selectVariant(chat.config, decoded)?.name ?? '';
    return {
      variant,
      outcomes: readOutcomes({ histories, records, ratings: [...ratings.values()], variant }),
    };
  } catch (error) {
    if (isUnreadable(error)) return 'unreadable';
    throw error;
  }
}

function add(
  sums: RunningSums,
  { variant, outcomes }: { variant: string; outcomes: readonly ComparedOutcome[] },
): void {
  sums.conversations.set(variant, (sums.conversations.get(variant) ?? 0) + 1);
  for (const outcome of outcomes)
    sums.outcomes.set(outcome.variant, [...(sums.outcomes.get(outcome.variant) ?? []), outcome]);
}

/** What became of compactions, by the variant of the deployment's comparison. */
export const compareCommand = opsCommand({
  name: 'compare',
  description: 'Compares compactions by variant of COMPACTION_VARIANTS.',
  args: pageArgs('10000'),
  async run({ args, project, screen }) {
    const limit = wholeNumber(args.limit, { option: '--limit', least: 1, most: LIMIT_MAX });
    const sums: RunningSums = { conversations: new Map(), outcomes: new Map() };
    let looked = 0;
    let unreadable = 0;
    let last: string | undefined;
    for await (const ids of conversationIds(project, { after: args.after, limit })) {
      const found = await inParallel(ids, AT_ONCE, async (id) => ({
        compared: await compareOne(project, id),
      }));
      for (const { compared } of found)
        if (compared === 'unreadable') unreadable += 1;
        else if (compared) add(sums, compared);
      looked += ids.length;
      last = ids.at(-1);
      screen.progress(`${figure(looked)} conversations`);
    }
    const figures = variantFigures(sums);
    const few = figures.filter(({ compacted }) => compacted < FEW_ATTEMPTS);
    screen.json({ conversations: looked, unreadable, last, variants: figures });
    screen.print(figures.length === 0 ? 'no conversations' : tableText(figures));
    screen.print(
      `\nMeans of those that compacted. Attempts without a swap count among the newest twenty of each conversation.`,
    );
    if (few.length > 0)
      screen.print(
        `Fewer than ${FEW_ATTEMPTS} compactions of ${few.map(({ variant }) => variant || 'own settings').join(', ')}: differences say nothing yet.`,
      );
    if (unreadable > 0)
      screen.print(
        `${counted(unreadable, 'conversation')} could not be read and is not counted: \`verify --all\` says why.`,
      );
    if (looked === limit && last !== undefined) screen.print(`more: --after ${last}`);
    return 0;
  },
});
