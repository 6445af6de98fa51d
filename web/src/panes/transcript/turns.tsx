import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { TurnView } from '#shared/wire/resources/turns.ts';
import type { ToolResult } from '#web/api/chat-api.ts';
import { count } from '#web/figures.ts';
import { Button, submit } from '#web/panes/controls.tsx';
import { toFolded } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { isOpen, liveSeq, type AnswerPart, type LiveTurn } from '#web/state/live-turn.ts';
import { textOfMessage, type StoredTurn, turnRemarks } from '#web/state/transcript.ts';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

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

type OpenCall = NonNullable<TurnView['openCalls']>[number];

/** An answer as it was typed: JSON as such, anything else as a text. */
function parseOutput(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return { output: typed };
  }
}

interface CallForm {
  call: OpenCall;
  give: (result: ToolResult) => void;
}

/** The app has run the function, or will not. */
function OutputForm({ call: { callId, name, args }, give }: CallForm) {
  const typed = useSignal('{}');
  return (
    <form onSubmit={submit(() => give({ callId, output: parseOutput(typed.value) }))}>
      <ToolCall name={name} input={args} />
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
          onClick={() => give({ callId, error: 'The user declined.' })}
        />
      </p>
    </form>
  );
}

/** A tool of the server waits for the user. */
const ApprovalForm = ({ call: { callId, name, args }, give }: CallForm) => (
  <div>
    <ToolCall name={name} input={args} />
    <p class="bar">
      <Button class="button" text="Allow" onClick={() => give({ callId, approved: true })} />
      <Button class="button" text="Decline" onClick={() => give({ callId, approved: false })} />
    </p>
  </div>
);

/** What a turn waits for, answered here: the answer goes on when the last call has its result. */
function OpenCalls(props: { conversation: OpenConversation; user: MessageView }) {
  const { conversation, user } = props;
  const calls = useSignal<readonly OpenCall[]>([]);
  const given = useSignal<ReadonlyMap<string, ToolResult>>(new Map());
  const { turnId, id: messageId } = user;
  useEffect(() => {
    void conversation.attempt(async () => {
      calls.value = (await conversation.api.turn(turnId)).openCalls ?? [];
    });
  }, [turnId]);
  const give = (result: ToolResult): void => {
    given.value = new Map([...given.value, [result.callId, result]]);
    const results = calls.value.flatMap(({ callId }) => given.value.get(callId) ?? []);
    if (results.length < calls.value.length) return;
    const text = textOfMessage(user);
    conversation.answers.ask({ kind: 'results', messageId, text, turnId, results });
  };
  return (
    <div class="open-calls small">
      <p class="turn-status">The model asks this app, and waits.</p>
      {calls.value
        .filter(({ callId }) => !given.value.has(callId))
        .map((call) => {
          const Form = call.wants === 'output' ? OutputForm : ApprovalForm;
          return <Form key={call.callId} call={call} give={give} />;
        })}
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

const noticeTexts = {
  restarted: 'The answer began anew.',
  loop: remarkTexts.loop,
  rounds: 'The model used up its rounds of tool calls and answered with what it had.',
  files: 'Files could not be read any more: the model answered without them.',
  approval: 'A tool waits for your approval.',
};

function statusOf({ phase, problem, finishReason }: LiveTurn): string | undefined {
  switch (phase) {
    case 'sending':
      return 'Sending …';
    case 'waiting':
      return 'Thinking …';
    case 'reconnecting':
      return 'Connection lost. Continuing …';
    case 'stopped':
      return remarkTexts.stopped;
    case 'failed':
      return `${remarkTexts.failed} ${problem?.message ?? ''}`;
    case 'streaming':
      return undefined;
    case 'done':
      if (finishReason === 'content-filter') return remarkTexts.contentFilter;
      return finishReason === 'length' ? remarkTexts.length : undefined;
  }
}

function LivePart({ part }: { part: AnswerPart }) {
  switch (part.kind) {
    case 'text':
      return <Prose text={part.text} />;
    case 'tool':
      return <ToolCall name={part.name} input={part.input} output={part.problem ?? part.output} />;
    case 'notice':
      return <p class="turn-status">{noticeTexts[part.notice]}</p>;
  }
}

interface LiveProps {
  conversation: OpenConversation;
  turn: LiveTurn;
}

/** After a refusal: the same again, or, where that would be refused again, another message. */
function WayOn({ conversation, turn }: LiveProps) {
  const { answers, draft, transcript } = conversation;
  const { messageId, text } = turn.request;
  const isNewest =
    answers.live.value.at(-1) === turn && (liveSeq(turn) ?? Infinity) >= transcript.turnCount.value;
  if (!isNewest) return null;
  const rewrite = (): void => {
    draft.text.value = text;
    answers.forget(messageId);
    document.querySelector<HTMLElement>('.composer textarea')?.focus();
  };
  return (
    <p class="bar">
      {!turn.problem?.isFinal && (
        <Button class="button" text="Try again" onClick={() => answers.retry(messageId)} />
      )}
      <Button class="button" text="Change it" onClick={rewrite} />
    </p>
  );
}

/** A turn that is being answered. */
export function LiveRow({ conversation, turn }: LiveProps) {
  const status = statusOf(turn);
  const { turnsLeftOut = 0 } = turn;
  return (
    <article class="turn" data-phase={turn.phase}>
      {turn.request.text !== '' && (
        <div class="message user">
          <Prose text={turn.request.text} />
        </div>
      )}
      <div class="message model" aria-busy={isOpen(turn)}>
        {turn.parts.map((part) => (
          <LivePart key={part.id} part={part} />
        ))}
        {turnsLeftOut > 0 && (
          <p class="turn-status">
            The model answers this without the oldest turns ({count(turnsLeftOut)}).
          </p>
        )}
        {status !== undefined && (
          <p class="turn-status" data-phase={turn.phase}>
            {status}
          </p>
        )}
        {turn.phase === 'failed' && <WayOn conversation={conversation} turn={turn} />}
      </div>
    </article>
  );
}

function StoredPart({ part }: { part: MessageView['parts'][number] }) {
  switch (part.type) {
    case 'text':
      return <Prose text={part.text} />;
    case 'file':
      return <p>{part.name ?? part.mediaType}</p>;
    case 'functionCall':
      return <ToolCall name={part.name} input={part.args} />;
    case 'functionResponse':
      return <ToolCall name={part.name} output={part.response} />;
  }
}

const Message = ({ message }: { message: MessageView }) => (
  <div class={`message ${message.role}`}>
    {message.parts.map((part, at) => (
      <StoredPart key={at} part={part} />
    ))}
  </div>
);

/** The pages that an answer rests on, and where Google answers what the model has searched for. */
function Sources({ answer: { sources = [], searched } }: { answer: MessageView }) {
  const links = [
    ...sources.map(({ url, title }) => ({ url, text: title ?? new URL(url).host })),
    ...(searched?.queries ?? []).map((query) => ({
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

interface StoredProps {
  conversation: OpenConversation;
  turn: StoredTurn;
  /** Leads to another turn. */
  showTurn: (seq: number) => void;
}

function Remarks({ conversation, turn }: StoredProps) {
  const remarks = turnRemarks(turn, conversation.transcript.pages.value).map((remark) =>
    remark.kind === 'replaced'
      ? `Turn ${count(remark.by)} took its place: the model does not see it.`
      : remarkTexts[remark.kind],
  );
  return remarks.length === 0 ? null : <p class="turn-status">{remarks.join(' ')}</p>;
}

/** What was brought back of folded turns for the message: a click leads to where it was said. */
function Recalled({ turn: { user, answer }, showTurn }: StoredProps) {
  const recalled = answer?.recalled ?? user?.recalled;
  if (!recalled) return null;
  return (
    <p class="turn-status links">
      The model was reminded of folded turns ({count(recalled.tokens)} tokens), with your message
      alone:{' '}
      {recalled.turns.map((id) => {
        const seq = Number(id.slice('t_'.length));
        return <Button key={id} class="link" text={count(seq)} onClick={() => showTurn(seq)} />;
      })}
    </p>
  );
}

/** A pin of a message has its id: pinned twice it is pinned once. */
const isPinnedIn = ({ pins }: OpenConversation, messageId: string | undefined): boolean =>
  pins.value?.pins.some(({ id }) => id === messageId) ?? false;

function Actions({ conversation, turn }: StoredProps) {
  const { answers, draft, transcript } = conversation;
  const { user, answer, seq } = turn;
  if (!user || user.deleted || answers.live.value.some(isOpen)) return null;
  const isLast = seq === transcript.turnCount.value;
  const { id } = user;
  const text = textOfMessage(user);
  const isPinned = isPinnedIn(conversation, id);
  const retry = () => answers.ask({ kind: 'send', messageId: id, text });
  const regenerate = (answerId: string): void =>
    answers.ask({ kind: 'regenerate', messageId: crypto.randomUUID(), text, answerId });
  const edit = (): void => {
    draft.text.value = text;
    draft.edited.value = { messageId: id, seq };
  };
  const pin = () => (isPinned ? conversation.unpin(id) : conversation.pin(id, text));
  return (
    <div class="turn-actions">
      {isLast && user.state === 'failed' && <Button text="Try again" onClick={retry} />}
      {isLast && answer && <Button text="Regenerate" onClick={() => regenerate(answer.id)} />}
      {user.inContext && <Button text="Edit" onClick={edit} />}
      <Button
        text={isPinned ? 'Pinned' : 'Pin'}
        aria-pressed={isPinned}
        title="Your message stays word for word in every context"
        onClick={() => void pin()}
      />
    </div>
  );
}

/** A turn as the transcript has it. */
export function StoredRow(props: StoredProps) {
  const { conversation, turn } = props;
  const { seq, user, answer } = turn;
  const isAwaiting = user?.state === 'awaiting_tool';
  return (
    <article
      class="turn"
      data-seq={seq}
      data-folded={seq <= toFolded(conversation.compactions.value).upTo}
      data-in-context={user?.inContext || isAwaiting}
    >
      <span class="turn-number figure" aria-hidden="true">
        {seq}
      </span>
      {user && <Message message={user} />}
      {isPinnedIn(conversation, user?.id) && (
        <p class="pinned-mark bar">
          <span class="chip at-end">Pinned</span>
        </p>
      )}
      {answer && <Message message={answer} />}
      {answer && <Sources answer={answer} />}
      {isAwaiting && <OpenCalls conversation={conversation} user={user} />}
      <Recalled {...props} />
      <Remarks {...props} />
      <Actions {...props} />
    </article>
  );
}
