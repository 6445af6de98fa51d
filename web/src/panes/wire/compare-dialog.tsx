import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { RawReply } from '#web/api/requester.ts';
import type { App } from '#web/state/app.ts';
import { selectToolTexts } from '#web/text/tools/tool-texts.ts';
import { facadeCall, facades, type Facade } from './facade-requests.ts';

type Reply =
  { kind: 'under-way' } | { kind: 'reply'; reply: RawReply } | { kind: 'failed'; problem: string };

/** Of a raw reply, what is shown. */
const SHOWN_CHARACTERS = 20_000;

/** Callables tell the turn in their events alone. */
const turnOf = ({ turnId, text }: RawReply): string =>
  turnId ?? /"turnId":"(t_\d+)"/.exec(text)?.[1] ?? '–';

function ReplyColumn({
  app,
  facade,
  reply,
}: {
  app: App;
  facade: Facade;
  reply: Reply | undefined;
}) {
  const texts = selectToolTexts(app.settings.language.value).wire;
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
  const texts = selectToolTexts(app.settings.language.value).wire;
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useSignal(texts.compareDefault);
  const replies = useSignal<Readonly<Partial<Record<Facade, Reply>>>>({});
  const isUnderWay = Object.values(replies.value).some(({ kind }) => kind === 'under-way');
  useEffect(() => dialog.current?.showModal(), []);

  const show = (facade: Facade, reply: Reply): void => {
    replies.value = { ...replies.value, [facade]: reply };
  };

  async function sendOverAll(): Promise<void> {
    const sent = {
      conversationId: crypto.randomUUID(),
      messageId: crypto.randomUUID(),
      text: text.value,
    };
    replies.value = {};
    await Promise.all(
      facades.map(async (facade) => {
        show(facade, { kind: 'under-way' });
        try {
          const call = facadeCall(facade, sent);
          show(facade, { kind: 'reply', reply: await app.api.raw(call, 'text/event-stream') });
        } catch (error) {
          show(facade, { kind: 'failed', problem: String(error) });
        }
      }),
    );
    await app.conversations.refresh();
  }

  return (
    <dialog class="compare" ref={dialog} onClose={onClose} aria-labelledby="compare-title">
      <div class="compare-head">
        <h2 id="compare-title">{texts.compareTitle}</h2>
        <button type="button" class="button small" onClick={() => dialog.current?.close()}>
          {texts.close}
        </button>
      </div>
      <p class="quiet">{texts.compareHint}</p>
      <form
        class="tool-bar"
        onSubmit={(event) => {
          event.preventDefault();
          void sendOverAll();
        }}
      >
        <label class="grow">
          {texts.compareText}
          <input
            type="text"
            required
            value={text.value}
            onInput={({ currentTarget }) => (text.value = currentTarget.value)}
          />
        </label>
        <button class="button primary" disabled={isUnderWay}>
          {texts.compareRun}
        </button>
      </form>
      <div class="compare-replies">
        {facades.map((facade) => (
          <ReplyColumn key={facade} app={app} facade={facade} reply={replies.value[facade]} />
        ))}
      </div>
    </dialog>
  );
}
