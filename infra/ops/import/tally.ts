import { counted, figure } from '../screen.ts';
import { leftReasons, type LeftReason } from './import-decision.ts';
import type { Imported } from './import-discussion.ts';
import { skippedReasons, type SkippedReason } from './source-message.ts';

/** Paths that are told of each reason; of more it is told how many. */
const TOLD_MAX = 10;

/** Reasons that make the command fail; `continued` and `deleted` are none, for users did that in Recap. */
const FAILURES: readonly LeftReason[] = ['other-owner', 'source-changed', 'too-long', 'too-large'];

const isLeft = (kind: Imported['kind']): kind is LeftReason => Object.hasOwn(leftReasons, kind);

/** Paths by the reason why they were left out. */
type LeftOut<Reason extends string> = Partial<Record<Reason, string[]>>;

/** What an import came to. */
export class Tally {
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
