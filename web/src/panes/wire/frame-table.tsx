import { useLayoutEffect, useRef } from 'preact/hooks';
import type { App } from '#web/state/app.ts';
import type { Exchange, WireFrame } from '#web/state/wire-log.ts';
import { toolTexts } from '../tools.ts';

/** So near to the end counts as reading the end. */
const NEAR_PIXELS = 40;

interface FramesProps {
  app: App;
  frames: readonly WireFrame[];
  exchanges: readonly Exchange[];
}

/** An event, below the name of its stream where that begins. */
function FrameRows(props: Omit<FramesProps, 'frames'> & { frame: WireFrame; isFirst: boolean }) {
  const { app, exchanges, frame, isFirst } = props;
  const { count } = app.figures.value;
  const path = exchanges.find(({ exchange }) => exchange === frame.exchange)?.path;
  return (
    <>
      {isFirst && (
        <tr class="wire-stream">
          <th colSpan={4} scope="rowgroup">
            {toolTexts(app).wire.stream(shortened(path ?? `#${frame.exchange}`))}
          </th>
        </tr>
      )}
      <tr data-frame={frame.id} title={frame.text}>
        <td>{frame.id ?? '–'}</td>
        <td>{count(frame.atMs)}</td>
        <td class="wire-type">
          {frame.type} <span class="quiet">{tellingOf(frame)}</span>
        </td>
        <td>{count(frame.sizeBytes)}</td>
      </tr>
    </>
  );
}

/** The newest 500 events, the newest at the end, which stays in sight unless somebody has scrolled up. */
export function FrameTable({ frames, ...shared }: FramesProps) {
  const { columns, frames: label } = toolTexts(shared.app).wire;
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
      aria-label={label}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - NEAR_PIXELS;
      }}
    >
      <table>
        <thead>
          <tr>
            {[columns.id, columns.at, columns.type, columns.size].map((name) => (
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
              {...shared}
              frame={frame}
              isFirst={frames[index - 1]?.exchange !== frame.exchange}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Ids of conversations fill a line; their beginnings tell them apart. */
export const shortened = (path: string): string =>
  path
    .replace(/^\/v1\/(?:conversations\/)?/, '')
    .replaceAll(/([\da-f]{4})[\da-f]{4}-[\da-f-]{27}/g, '$1…');

/** What an event says, where it says something. */
function tellingOf({ type, text }: WireFrame): string {
  if (type !== 'text-delta') return '';
  return /"delta":"(.{0,48})/.exec(text)?.[1]?.replace(/"}$/, '') ?? '';
}
