import { count } from '#web/figures.ts';
import { Button } from '#web/panes/controls.tsx';
import type { App } from '#web/state/app.ts';
import type { Exchange, WireFrame } from '#web/state/wire-log.ts';
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** For a POSIX shell: nothing within single quotes has a meaning but the quote itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The command that makes the same request again. The caller's token never gets into it: the shell puts in
 * `$RECAP_TOKEN`.
 */
function toCurl({ method, url, body, isStream }: Exchange): string {
  const flags = isStream ? '-sN' : '-s';
  return [
    `curl ${flags} -X ${method} ${quoted(url)}`,
    `-H "Authorization: Bearer $RECAP_TOKEN"`,
    `-H 'Accept: ${isStream ? 'text/event-stream' : 'application/json'}'`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(body)}`]),
  ].join(' \\\n  ');
}

const pathOf = (url: string): string => url.slice(url.indexOf('/v1/'));

/** Ids of conversations fill a line; their beginnings tell them apart. */
const shortened = (path: string): string =>
  path
    .replace(/^\/v1\/(?:conversations\/)?/, '')
    .replaceAll(/([\da-f]{4})[\da-f]{4}-[\da-f-]{27}/g, '$1…');

/** What an event says, where it says something. */
function deltaOf({ type, text }: WireFrame): string {
  if (type !== 'text-delta') return '';
  return /"delta":"(.{0,48})/.exec(text)?.[1]?.replace(/"}$/, '') ?? '';
}

/** An event, below the name of its stream where that begins. */
function FrameRows(props: { frame: WireFrame; isFirst: boolean; url: string | undefined }) {
  const { frame, isFirst, url } = props;
  return (
    <>
      {isFirst && (
        <tr class="wire-stream">
          <th colSpan={4} scope="rowgroup">
            Stream of {url === undefined ? `#${frame.exchange}` : shortened(pathOf(url))}
          </th>
        </tr>
      )}
      <tr data-frame={frame.id} title={frame.text}>
        <td>{frame.id ?? '–'}</td>
        <td>{count(frame.atMs)}</td>
        <td>
          {frame.type} <span class="quiet">{deltaOf(frame)}</span>
        </td>
        <td>{count(frame.sizeBytes)}</td>
      </tr>
    </>
  );
}

/** So near to the end counts as reading the end. */
const NEAR_PIXELS = 40;

/** The newest 500 events, the newest at the end, which stays in sight unless somebody has scrolled up. */
function FrameTable(props: { frames: readonly WireFrame[]; exchanges: readonly Exchange[] }) {
  const { frames, exchanges } = props;
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [frames]);
  return (
    <div
      class="wire-frames"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label="Events of the stream"
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - NEAR_PIXELS;
      }}
    >
      <table>
        <thead>
          <tr>
            {['id', 'ms', 'type', 'bytes'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {frames.map((frame, index) => (
            // Frames are only ever added at the end and forgotten at the beginning.
            <FrameRows
              key={`${frame.exchange}-${frame.id ?? `end-${frame.type}`}-${frame.atMs}`}
              frame={frame}
              isFirst={frames[index - 1]?.exchange !== frame.exchange}
              url={exchanges.find(({ exchange }) => exchange === frame.exchange)?.url}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const COPIED_SHOWN_MS = 3_000;

function RequestRow({ exchange }: { exchange: Exchange }) {
  const isCopied = useSignal(false);
  const { method, url, code, tookMs, problem } = exchange;
  const path = pathOf(url);
  const isBad = tookMs !== undefined && !(code !== undefined && code < 400);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(toCurl(exchange));
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), COPIED_SHOWN_MS);
  };
  return (
    <li data-bad={isBad}>
      <strong>{method}</strong>
      <span class="one-line" title={path}>
        {shortened(path)}
      </span>
      <span class="chip figure">{code ?? (problem === undefined ? '…' : 'no answer')}</span>
      <span class="figure quiet">{tookMs === undefined ? '' : `${count(tookMs)} ms`}</span>
      <Button
        class="button"
        text={isCopied.value ? 'Copied' : 'curl'}
        aria-label={`Copy as curl: ${method} ${path}`}
        onClick={() => void copy()}
      />
    </li>
  );
}

/** What goes over the wire: the events of the stream, and the page's requests. */
export function WireTab({ app }: { app: App }) {
  const { exchanges, frames } = app.wire.value;
  return (
    <>
      <h3>Events of the stream</h3>
      {frames.length === 0 ? (
        <p class="quiet">No event yet. Send a message.</p>
      ) : (
        <FrameTable frames={frames} exchanges={exchanges} />
      )}
      <h3>Requests of the page</h3>
      <p class="quiet small">
        The token is left out: the command takes it from $RECAP_TOKEN, which npm start prints.
      </p>
      <ol class="wire-requests">
        {exchanges.toReversed().map((exchange) => (
          <RequestRow key={exchange.exchange} exchange={exchange} />
        ))}
      </ol>
    </>
  );
}
