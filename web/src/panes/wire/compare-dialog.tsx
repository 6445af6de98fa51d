import { useSignal, type Signal } from '@preact/signals';
import type { RawReply } from '#web/api/requester.ts';
import type { App } from '#web/state/app.ts';
import { Button, closeDialog, showModal, submit } from '../controls.tsx';
import { toolTexts } from '../tools.ts';
import { facadeCall, facades, type Facade } from './facade-requests.ts';

type Reply =
  { kind: 'under-way' } | { kind: 'reply'; reply: RawReply } | { kind: 'failed'; problem: string };

/** Of a raw reply, what is shown. */
const SHOWN_CHARACTERS = 20_000;

/** Callables tell the turn in their events alone. */
const turnOf = ({ turnId, text }: RawReply): string =>
  turnId ?? /"turnId":"(t_\d+)"/.exec(text)?.[1] ?? '–';

type Replies = Readonly<Partial<Record<Facade, Reply>>>;

async function sendOverAll(app: App, replies: Signal<Replies>, text: string): Promise<void> {
  const sent = { conversationId: crypto.randomUUID(), messageId: crypto.randomUUID(), text };
  const show = (facade: Facade, reply: Reply): void => {
    replies.value = { ...replies.value, [facade]: reply };
  };
  replies.value = {};
  await Promise.all(
    facades.map(async (facade) => {
      show(facade, { kind: 'under-way' });
      try {
        const reply = await app.api.raw(facadeCall(facade, sent), 'text/event-stream');
        show(facade, { kind: 'reply', reply });
      } catch (error) {
        show(facade, { kind: 'failed', problem: String(error) });
      }
    }),
  );
  await app.conversations.refresh();
}

function ReplyColumn({ app, facade, replies }: { app: App; facade: Facade; replies: Replies }) {
  const texts = toolTexts(app).wire;
  const reply = replies[facade];
  const { path } = facadeCall(facade, { conversationId: '{c}', messageId: '', text: '' });
  return (
    <section class="compare-reply" data-facade={facade}>
      <h3>{texts.facades[facade]}</h3>
      <p class="quiet wire-path">POST {path}</p>
      {reply?.kind === 'under-way' && <p class="quiet">{texts.underWay}</p>}
      {reply?.kind === 'failed' && <p role="alert">{reply.problem}</p>}
      {reply?.kind === 'reply' && (
        <>
          <p class="figure">
            {reply.reply.code} · {texts.turns(turnOf(reply.reply))}
          </p>
          <pre tabIndex={0}>{reply.reply.text.slice(0, SHOWN_CHARACTERS)}</pre>
        </>
      )}
    </section>
  );
}

/** The same message over every protocol, with the raw replies beside each other. */
export function CompareDialog({ app, onClose }: { app: App; onClose: () => void }) {
  const texts = toolTexts(app).wire;
  const text = useSignal(texts.compareDefault);
  const replies = useSignal<Replies>({});
  const isUnderWay = Object.values(replies.value).some(({ kind }) => kind === 'under-way');
  return (
    <dialog class="compare" ref={showModal} onClose={onClose} aria-labelledby="compare-title">
      <div class="compare-head">
        <h2 id="compare-title">{texts.compareTitle}</h2>
        <Button class="button small" text={texts.close} onClick={closeDialog} />
      </div>
      <p class="quiet">{texts.compareHint}</p>
      <form class="tool-bar" onSubmit={submit(() => void sendOverAll(app, replies, text.value))}>
        <label class="grow">
          {texts.compareText}
          <input
            type="text"
            required
            value={text.value}
            onInput={({ currentTarget }) => (text.value = currentTarget.value)}
          />
        </label>
        <Button
          type="submit"
          class="button primary"
          text={texts.compareRun}
          disabled={isUnderWay}
        />
      </form>
      <div class="compare-replies">
        {facades.map((facade) => (
          <ReplyColumn key={facade} app={app} facade={facade} replies={replies.value} />
        ))}
      </div>
    </dialog>
  );
}
