import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { App, ConversationProps } from '#web/state/app.ts';
import { isSaving, savedShare } from '#web/state/context/compaction-steps.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { turnsToShow, type Detail, type Lit } from '#web/state/context/provenance.ts';
import {
  type StoredTurn,
  pageNumber,
  seqBefore,
  TURNS_PER_PAGE,
  toTurns,
} from '#web/state/turn-pages.ts';
import { closeDialog, IconButton, showModal } from '../controls.tsx';
import { FoldedTurns } from './folded-turns.tsx';
import { SnapshotItems } from './snapshot-items.tsx';
import { VerificationReport } from './verification-report.tsx';
import type { ConversationApi } from '#web/api/chat-api.ts';

/** These turns of the transcript, in their order. Throws ApiError. */
async function loadTurns(
  api: Pick<ConversationApi, 'messages'>,
  seqs: readonly number[],
): Promise<StoredTurn[]> {
  const wanted = new Set(seqs);
  const turns: StoredTurn[] = [];
  // One page after the other: a server takes only so many calls of one user at once.
  for (const page of new Set(seqs.map(pageNumber))) {
    const { messages } = await api.messages(seqBefore(page), 2 * TURNS_PER_PAGE);
    turns.push(...toTurns(messages).filter((turn) => wanted.delete(turn.seq)));
  }
  return turns;
}

async function readDetail(
  { api, refreshPins }: OpenConversation,
  generation: number,
): Promise<Detail> {
  const [compaction] = await Promise.all([api.compaction(generation), refreshPins()]);
  return { compaction, turns: await loadTurns(api, turnsToShow(compaction)) };
}

function Conversation({ app, detail }: { app: App; detail: Detail }) {
  const { count, percent } = app.figures.value;
  const { compaction } = detail;
  return (
    <p class="figure detail-figures">
      {count(compaction.beforeTokens)} → <strong>{count(compaction.afterTokens)}</strong>{' '}
      {app.texts.value.inspector.tokens}
      {isSaving(compaction) && (
        <span class="saved">{app.texts.value.events.saved(percent(savedShare(compaction)))}</span>
      )}
    </p>
  );
}

function Body({ app, detail }: { app: App; detail: Detail }) {
  const texts = app.texts.value.detail;
  const lit: Lit = useSignal({});
  const { snapshot = [] } = detail.compaction;
  const hasSources = snapshot.length === 0 || snapshot.some(({ sources }) => sources.length > 0);
  return (
    <div class="detail-body">
      <section class="detail-column" aria-labelledby="detail-turns">
        <h3 id="detail-turns">{texts.turns}</h3>
        <FoldedTurns app={app} detail={detail} lit={lit} />
      </section>
      <section class="detail-column" aria-labelledby="detail-snapshot">
        <h3 id="detail-snapshot">{texts.snapshot}</h3>
        <p class="quiet">{hasSources ? texts.hint : texts.noSources}</p>
        <SnapshotItems app={app} detail={detail} lit={lit} />
      </section>
      <section class="detail-column narrow" aria-labelledby="detail-report">
        <h3 id="detail-report">{texts.report}</h3>
        <VerificationReport app={app} detail={detail} />
      </section>
    </div>
  );
}

/** One compaction: what was folded, what was kept of it, and why one may trust that. */
export function DetailDialog(props: ConversationProps & { generation: number }) {
  const { app, conversation, generation } = props;
  const texts = app.texts.value;
  const detail = useSignal<Detail | undefined>(undefined);
  useEffect(() => {
    void conversation
      .attempt(() => readDetail(conversation, generation))
      .then((found) => {
        detail.value = found;
        if (!found) app.detail.value = undefined;
      });
  }, [generation]);
  return (
    <dialog
      ref={showModal}
      class="detail"
      aria-labelledby="detail-title"
      onClose={() => (app.detail.value = undefined)}
    >
      <header class="detail-head">
        <h2 id="detail-title">{texts.detail.title(app.figures.value.count(generation))}</h2>
        {detail.value && <Conversation app={app} detail={detail.value} />}
        <IconButton sign="✕" label={texts.close} onClick={closeDialog} />
      </header>
      {detail.value ? (
        <Body app={app} detail={detail.value} />
      ) : (
        <p class="quiet detail-loading">{texts.transcript.loading}</p>
      )}
    </dialog>
  );
}
