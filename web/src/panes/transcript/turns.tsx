import type { Message, MessagePart } from '#clients/typescript/src/index.ts';
import { count } from '#web/figures.ts';
import { Button, submit } from '#web/panes/controls.tsx';
import type { ConversationProps } from '#web/state/app.ts';
import { toFolded } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { isLeftOut, phaseOf, type Turn, type TurnRemark, turnRemarks } from '#web/state/turns.ts';
import { useSignal } from '@preact/signals';

/** A piece of a message as it is laid out. */
interface Block {
  kind: 'paragraph' | 'code';
  text: string;
}

const FENCE = /^ {0,3}```/;

/**
 * Paragraphs, parted by empty lines, and code between fences of three backticks. A fence that is not closed
 * goes to the end: an answer is shown while it comes.
 */
function splitParagraphs(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let isCode = false;
  const end = (): void => {
    const joined = lines.join('\n');
    if (isCode || joined.trim() !== '')
      blocks.push({ kind: isCode ? 'code' : 'paragraph', text: joined });
    lines = [];
  };
  for (const line of text.split('\n')) {
    if (FENCE.test(line)) {
      end();
      isCode = !isCode;
    } else if (!isCode && line.trim() === '') end();
    else lines.push(line);
  }
  end();
  return blocks;
}

/** Text of a message: paragraphs, and code between fences. Never read as HTML. */
const Prose = ({ text }: { text: string }) => (
  <div class="prose">
    {splitParagraphs(text).map((block, at) =>
      block.kind === 'code' ? (
        <pre key={at} tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      ) : (
        <p key={at}>{block.text}</p>
      ),
    )}
  </div>
);

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

/** A call of a tool, folded up. */
const ToolCall = ({ name, input, output }: { name: string; input?: unknown; output?: unknown }) => (
  <details class="tool-call small">
    <summary>
      <code>{name}</code>
    </summary>
    {input !== undefined && <pre tabIndex={0}>{asText(input)}</pre>}
    {output !== undefined && <pre tabIndex={0}>{asText(output)}</pre>}
  </details>
);

/** An answer as it was typed: JSON as such, anything else as a text. */
function parseOutput(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return { output: typed };
  }
}

type ToolPart = Extract<MessagePart, { type: 'tool' }>;

/** The app has run the function, or will not. */
function OutputForm({ app, part: { callId, name } }: Pick<TurnProps, 'app'> & { part: ToolPart }) {
  const typed = useSignal('{}');
  const call = app.openCalls.value.get(callId);
  if (!call) return <p class="quiet">The device that sent the message answers {name}.</p>;
  return (
    <form onSubmit={submit(() => call.resolve(parseOutput(typed.value)))}>
      <label>
        What does {name} give?
        <textarea
          rows={3}
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
      </label>
      <p class="bar">
        <Button type="submit" class="button" text="Answer the model" />
        <Button
          class="button"
          text="Decline"
          onClick={() => call.reject(new Error('The user declined.'))}
        />
      </p>
    </form>
  );
}

/** A tool of the server waits for the user. */
function Approval({ conversation, callId }: { conversation: OpenConversation; callId: string }) {
  const approve = (isAllowed: boolean): void =>
    void conversation.attempt(() => conversation.chat.approve(callId, isAllowed));
  return (
    <p class="bar">
      <Button class="button" text="Allow" onClick={() => approve(true)} />
      <Button class="button" text="Decline" onClick={() => approve(false)} />
    </p>
  );
}

/** What a turn waits for, answered here: the answer goes on when the last call has its result. */
function OpenCalls({ app, conversation, turn: { answer } }: TurnProps) {
  if (answer?.state !== 'waiting') return null;
  const calls = answer.parts.flatMap((part) =>
    part.type === 'tool' && (part.state === 'approval' || part.state === 'running') ? [part] : [],
  );
  return (
    <div class="open-calls small">
      <p class="turn-status">The model asks this app, and waits.</p>
      {calls.map((part) =>
        part.state === 'approval' ? (
          <Approval key={part.callId} conversation={conversation} callId={part.callId} />
        ) : (
          <OutputForm key={part.callId} app={app} part={part} />
        ),
      )}
    </div>
  );
}

/** How an answer ended, or why the model does not see a turn. */
const remarkTexts = {
  deleted: 'This message was deleted.',
  failed: 'No answer.',
  contentFilter: 'The model did not answer this.',
  stopped: 'Stopped.',
  length: 'The answer reached its longest length.',
  loop: 'The answer was ended because it repeated itself.',
  notInContext: 'The model does not see this turn.',
};

const noticeTexts: Readonly<Record<string, string>> = {
  restarted: 'The answer began anew.',
  shrunken: 'The model answers without the oldest turns: they do not fit any more.',
  loop: remarkTexts.loop,
  rounds: 'The model used up its rounds of tool calls and answered with what it had.',
  files: 'Files could not be read any more: the model answered without them.',
};

const phaseTexts = {
  sending: 'Sending …',
  unsent: 'Not sent yet: it is sent as soon as the service can be reached.',
  refused: 'Not sent.',
  waiting: 'Thinking …',
  streaming: undefined,
  reconnecting: 'Connection lost. Continuing …',
};

function Part({ part }: { part: MessagePart }) {
  switch (part.type) {
    case 'text':
      return <Prose text={part.text} />;
    case 'file':
      return <p>{part.name ?? part.mediaType}</p>;
    case 'tool':
      return <ToolCall name={part.name} input={part.input} output={part.error ?? part.output} />;
    case 'notice':
      return <p class="turn-status">{noticeTexts[part.kind]}</p>;
    case 'source':
      return null;
  }
}

const Parts = ({ message }: { message: Message }) => (
  <>
    {message.parts.map((part, at) => (
      <Part key={at} part={part} />
    ))}
  </>
);

/** The pages that an answer rests on, and where Google answers what the model has searched for. */
function Sources({ answer: { parts, stored } }: { answer: Message }) {
  const links = [
    ...parts.flatMap((part) =>
      part.type === 'source' ? [{ url: part.url, text: part.title ?? new URL(part.url).host }] : [],
    ),
    ...(stored?.searched?.queries ?? []).map((query) => ({
      url: `https://www.google.com/search?q=${encodeURIComponent(query)}`,
      text: `Google: ${query}`,
    })),
  ];
  if (links.length === 0) return null;
  return (
    <p class="turn-status links">
      Sources:{' '}
      {links.map(({ url, text }, at) => (
        <a key={at} href={url} target="_blank" rel="noopener noreferrer nofollow">
          {text}
        </a>
      ))}
    </p>
  );
}

interface TurnProps extends ConversationProps {
  turn: Turn;
}

const remarkText = (remark: TurnRemark): string => {
  if (remark.kind !== 'replaced') return remarkTexts[remark.kind];
  const by = Number.isFinite(remark.by) ? `Turn ${count(remark.by)}` : 'Another message';
  return `${by} took its place: the model does not see it.`;
};

/** Where a turn stands, how its answer ended and why, and why the model does not see it. */
function Remarks({ conversation, turn }: TurnProps) {
  const phase = phaseOf(turn, conversation.isCut.value);
  const error = turn.user.error ?? turn.answer?.error;
  const texts = [
    phase && phaseTexts[phase],
    ...turnRemarks(turn).map(remarkText),
    error?.message,
  ].filter((text) => text !== undefined);
  if (texts.length === 0) return null;
  return (
    <p class="turn-status" data-phase={error && 'failed'}>
      {texts.join(' ')}
    </p>
  );
}

/** What was brought back of folded turns for the message: a click leads to where it was said. */
function Recalled({ conversation, turn: { user, answer } }: TurnProps) {
  const recalled = answer?.stored?.recalled ?? user.stored?.recalled;
  if (!recalled) return null;
  return (
    <p class="turn-status links">
      The model was reminded of folded turns ({count(recalled.tokens)} tokens), with your message
      alone:{' '}
      {recalled.turns.map((id) => {
        const seq = Number(id.slice('t_'.length));
        return (
          <Button
            key={id}
            class="link"
            text={count(seq)}
            onClick={() => void conversation.showTurn(seq)}
          />
        );
      })}
    </p>
  );
}

/** After a failure: the same again, or, where that would fail again, another message. Of one that waits, the way back. */
function WayOn({ conversation, turn }: TurnProps) {
  const { chat, attempt, draft } = conversation;
  const { user, answer } = turn;
  const isUnsent =
    user.state === 'failed' || (user.state === 'pending' && conversation.isCut.value);
  const isUnanswered = answer?.state === 'failed' && conversation.turns.value.at(-1) === turn;
  if (!isUnsent && !isUnanswered) return null;
  const mayRetry = user.state === 'failed' || answer?.error?.isRetryable;
  const discard = () => void attempt(() => chat.discard(user.id));
  const rewrite = (): void => {
    draft.text.value = user.text;
    if (isUnsent) discard();
    document.querySelector<HTMLElement>('.composer textarea')?.focus();
  };
  return (
    <p class="bar">
      {mayRetry && (
        <Button
          class="button"
          text="Try again"
          onClick={() => void attempt(() => chat.retry(user.id))}
        />
      )}
      <Button class="button" text="Change it" onClick={rewrite} />
      {isUnsent && <Button class="button" text="Discard" onClick={discard} />}
    </p>
  );
}

/** A pin of a message has its id: pinned twice it is pinned once. */
const isPinnedIn = ({ pins }: OpenConversation, messageId: string): boolean =>
  pins.value?.pins.some(({ id }) => id === messageId) ?? false;

function Actions({ conversation, turn }: TurnProps) {
  const { chat, state, turns, draft, attempt } = conversation;
  const { user, answer, seq } = turn;
  if (seq === undefined || user.isDeleted || state.value.isAnswering) return null;
  const { id, text } = user;
  const isPinned = isPinnedIn(conversation, id);
  const mayRegenerate = turns.value.at(-1) === turn && answer?.stored && answer.state !== 'failed';
  const edit = (): void => {
    draft.text.value = text;
    draft.edited.value = { messageId: id, seq };
  };
  const pin = () => (isPinned ? conversation.unpin(id) : conversation.pin(id, text));
  return (
    <div class="turn-actions">
      {mayRegenerate && (
        <Button text="Regenerate" onClick={() => void attempt(() => chat.regenerate())} />
      )}
      {!isLeftOut(turn) && <Button text="Edit" onClick={edit} />}
      <Button
        text={isPinned ? 'Pinned' : 'Pin'}
        aria-pressed={isPinned}
        title="Your message stays word for word in every context"
        onClick={() => void pin()}
      />
    </div>
  );
}

/** A turn: on its way, under way, or as the transcript has it. */
export function TurnRow(props: TurnProps) {
  const { conversation, turn } = props;
  const { seq, user, answer } = turn;
  const phase = phaseOf(turn, conversation.isCut.value);
  const isEnded = phase === undefined;
  return (
    <article
      class="turn"
      data-phase={phase}
      data-seq={isEnded ? seq : undefined}
      data-folded={seq !== undefined && seq <= toFolded(conversation.compactions.value).upTo}
      data-in-context={!isLeftOut(turn)}
    >
      <span class="turn-number figure" aria-hidden="true">
        {seq}
      </span>
      <div class="message user">
        <Parts message={user} />
      </div>
      {isPinnedIn(conversation, user.id) && (
        <p class="pinned-mark bar">
          <span class="chip at-end">Pinned</span>
        </p>
      )}
      {answer && (answer.parts.length > 0 || !isEnded) && (
        <div class="message model" aria-busy={!isEnded}>
          <Parts message={answer} />
        </div>
      )}
      {answer && <Sources answer={answer} />}
      <OpenCalls {...props} />
      <Recalled {...props} />
      <Remarks {...props} />
      <WayOn {...props} />
      <Actions {...props} />
    </article>
  );
}
