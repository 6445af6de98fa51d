import { opsCommand, yesArg } from '#infra/ops/command.ts';
import {
  leftReasons,
  type LeftReason,
  type Imported,
  importDiscussion,
} from '#infra/ops/import/import-discussion.ts';
import {
  skippedReasons,
  type SkippedReason,
  parseCollectionPattern,
  parseOwner,
  forEachDiscussion,
} from '#infra/ops/import/source.ts';
import { counted, figure } from '#infra/ops/screen.ts';

/** Paths that are told of each reason; of more it is told how many. */
const TOLD_MAX = 10;

/** Reasons that make the command fail; `continued` and `deleted` are none, for users did that in Recap. */
const FAILURES: readonly LeftReason[] = ['other-owner', 'source-changed', 'too-long', 'too-large'];

const isLeft = (kind: Imported['kind']): kind is LeftReason => Object.hasOwn(leftReasons, kind);

/** Paths by the reason why they were left out. */
type LeftOut<Reason extends string> = Partial<Record<Reason, string[]>>;

/** What an import came to. */
class Tally {
  readonly figures = {
    discussions: 0,
    created: 0,
    extended: 0,
    unchanged: 0,
    empty: 0,
    turns: 0,
    /** Collections. */
    left: {} as LeftOut<LeftReason>,
    /** Documents. */
    skipped: {} as LeftOut<SkippedReason>,
  };

  /** Adds what became of one discussion. */
  add(collection: string, { kind, turns, skipped }: Imported): void {
    const { figures } = this;
    figures.discussions += 1;
    figures.turns += turns;
    if (isLeft(kind)) (figures.left[kind] ??= []).push(collection);
    else figures[kind] += 1;
    for (const [path, reason] of skipped) (figures.skipped[reason] ??= []).push(path);
  }

  get hasFailures(): boolean {
    return FAILURES.some((reason) => this.figures.left[reason] !== undefined);
  }

  get progress(): string {
    const { discussions, turns } = this.figures;
    return `${counted(discussions, 'discussion')}, ${counted(turns, 'turn')}`;
  }

  text(isMeant: boolean): string {
    const { discussions, created, extended, unchanged, empty, turns, left, skipped } = this.figures;
    const would = isMeant ? '' : 'would be ';
    return [
      `${counted(discussions, 'discussion')}: ${figure(created)} ${would}created, ${figure(extended)} ${would}extended, ${figure(unchanged)} unchanged, ${figure(empty)} without a message; ${counted(turns, 'turn')} ${would}written`,
      ...reasonLines('discussion', left, leftReasons),
      ...reasonLines('document', skipped, skippedReasons),
      ...(isMeant ? [] : ['--yes does it']),
    ].join('\n');
  }
}

function reasonLines(
  noun: string,
  left: LeftOut<string>,
  meanings: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(meanings).flatMap(([reason, meaning]) => {
    const paths = left[reason];
    if (!paths) return [];
    const more = paths.length - TOLD_MAX;
    return [
      `${counted(paths.length, noun)} left out (${reason}): ${meaning}`,
      ...paths.slice(0, TOLD_MAX).map((path) => `  ${path}`),
      ...(more > 0 ? [`  and ${figure(more)} more`] : []),
    ];
  });
}

const field = (valueHint: string, name: string, description: string) =>
  ({ type: 'string', valueHint, default: name, description }) as const;

/** Makes conversations of what the Firebase extension firestore-genai-chatbot has stored. */
export const importCommand = opsCommand({
  name: 'import',
  description:
    'Makes conversations of what the Firebase extension firestore-genai-chatbot has stored, which stays as it is.',
  args: {
    from: {
      type: 'string',
      valueHint: 'PATH',
      required: true,
      description:
        'collection path of the extension, such as users/{uid}/discussions/{id}/messages',
    },
    owner: field(
      'UID',
      '{uid}',
      'whose the conversations are: a uid, or a {parameter} of the path',
    ),
    'from-database': {
      type: 'string',
      valueHint: 'ID',
      description: 'database of the extension (default: the one of Recap)',
    },
    'prompt-field': field('NAME', 'prompt', 'field of the prompt'),
    'response-field': field('NAME', 'response', 'field of the response'),
    'order-field': field('NAME', 'createTime', 'field that orders a discussion'),
    ...yesArg,
  },
  async run({ args, project, screen }) {
    const pattern = parseCollectionPattern(args.from);
    const ownerIn = parseOwner(args.owner, pattern);
    const importing = {
      chat: project.chat,
      source: project.sourceDatabase(args['from-database']),
      names: {
        prompt: args['prompt-field'],
        response: args['response-field'],
        order: args['order-field'],
      },
      isMeant: args.yes,
    };
    const tally = new Tally();
    await forEachDiscussion(importing.source, pattern, async ({ collection, parameters }) => {
      const wanted = { collection, ownerUid: ownerIn(parameters) };
      tally.add(collection, await importDiscussion(importing, wanted));
      screen.progress(tally.progress);
    });
    screen.json({ dryRun: !args.yes, ...tally.figures });
    screen.print(tally.text(args.yes));
    return tally.hasFailures ? 1 : 0;
  },
});
