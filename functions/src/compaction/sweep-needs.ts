import type { Need } from '../../../shared/compaction/claim-decision.ts';
import { requestEvent } from '../../../shared/compaction/event.ts';
import { decideOverdue, REPUBLISH_AFTER_MS } from '../../../shared/compaction/sweep-decision.ts';
import { decodeHead, type Head, type Versioned } from '../../../shared/conversation/head.ts';
import { decodeJob, type CompactionJob } from '../../../shared/conversation/job.ts';
import { compactionJobPath } from '../../../shared/conversation/paths.ts';
import { NewerDocumentError } from '../../../shared/conversation/schema-version.ts';
import type { StoredDocument } from '../../../shared/ports.ts';
import { passCrashPoint } from './crash-points.ts';
import { dropNeed } from './drop-need.ts';
import { conversationOf, earlierThan, forEachItem, pagesOf, type Sweep } from './sweep-pass.ts';

/**
 * Needs that one sweep publishes, the oldest first. More at once would only wait in the queue: the rest
 * follows five minutes later. A need leaves the list when it is served, or given up after a day.
 */
const MOST_PUBLISHED = 1_000;
const PUBLISHED_AT_ONCE = 10;

interface Overdue {
  conversationId: string;
  head: Versioned<Head>;
  job: Versioned<CompactionJob> | undefined;
  need: Need;
}

function needOfKind(head: Head, kind: Need['kind']): Need | undefined {
  const { manual, auto } = head.compactionNeeded;
  if (kind === 'manual') return manual && { kind, trigger: 'manual', ...manual };
  return auto && { kind, ...auto };
}

/**
 * The job, or undefined for one of a shape that nobody knows: that is the worker's to fail on. Throws
 * NewerDocumentError: the need stays until the release that wrote the job serves it.
 */
function readableJob(document: StoredDocument | undefined): Versioned<CompactionJob> | undefined {
  try {
    return document && decodeJob(document);
  } catch (error) {
    if (error instanceof NewerDocumentError) throw error;
    return undefined;
  }
}

async function serve(sweep: Sweep, overdue: Overdue, published: Set<string>): Promise<void> {
  const { dependencies, counts } = sweep;
  const { conversationId, head, job, need } = overdue;
  const now = dependencies.clock.now();
  const decision = decideOverdue({ now, state: head.value.state, need, job: job?.value });
  switch (decision.kind) {
    case 'wait':
      return;
    case 'drop':
      await dropNeed(dependencies, { ...overdue, job: job ?? 'unreadable', ...decision, now });
      counts.needsDropped += 1;
      await passCrashPoint(dependencies, 'sweep-need-dropped');
      return;
    case 'publish': {
      // One event does for both needs of a conversation, and nobody published it between check and here.
      if (published.has(conversationId) || published.size >= MOST_PUBLISHED) return;
      published.add(conversationId);
      const { requestId } = need;
      await dependencies.publisher.publish({
        topic: 'compaction',
        data: requestEvent({ conversationId, requestId }),
      });
      counts.needsPublished += 1;
      await passCrashPoint(dependencies, 'sweep-published');
    }
  }
}

/**
 * Publishes the needs again whose event was lost or whose worker died, and settles those that nobody will
 * serve. A person's requests come first, then the oldest.
 */
export async function sweepNeeds(sweep: Sweep): Promise<void> {
  const { store, clock } = sweep.dependencies;
  const published = new Set<string>();
  const before = new Date(clock.now().getTime() - REPUBLISH_AFTER_MS);
  for (const kind of ['manual', 'auto'] as const)
    for await (const page of pagesOf(
      sweep,
      earlierThan(`compactionNeeded.${kind}.since`, before),
    )) {
      const jobs = await store.get(page.map((head) => compactionJobPath(conversationOf(head))));
      const items = page.map((head, i) => ({ document: head, job: jobs[i] }));
      const each = { pass: 'needs', items, atOnce: PUBLISHED_AT_ONCE };
      await forEachItem(sweep, each, async ({ document, job }) => {
        const head = decodeHead(document);
        const need = needOfKind(head.value, kind);
        if (!need) return;
        const conversationId = conversationOf(document);
        await serve(sweep, { conversationId, head, job: readableJob(job), need }, published);
      });
      if (published.size >= MOST_PUBLISHED) return;
    }
}
