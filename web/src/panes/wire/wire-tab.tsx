import { useSignal } from '@preact/signals';
import type { App } from '#web/state/app.ts';
import { Button } from '../controls.tsx';
import { toolTexts } from '../tools.ts';
import { CompareDialog } from './compare-dialog.tsx';
import { FrameTable } from './frame-table.tsx';
import { RequestList } from './request-list.tsx';

/** What goes over the wire: the events of the stream, and the page's requests. */
export function WireTab({ app }: { app: App }) {
  const texts = toolTexts(app).wire;
  const isComparing = useSignal(false);
  const { exchanges, frames } = app.wire.log.value;
  return (
    <div class="tool wire">
      <div class="tool-bar">
        <Button
          class="button small"
          text={texts.compare}
          onClick={() => (isComparing.value = true)}
        />
      </div>
      <h3>{texts.frames}</h3>
      {frames.length === 0 ? (
        <p class="quiet">{texts.noFrames}</p>
      ) : (
        <FrameTable app={app} frames={frames} exchanges={exchanges} />
      )}
      <h3>{texts.requests}</h3>
      <p class="quiet">{texts.tokenHint}</p>
      {exchanges.length === 0 ? (
        <p class="quiet">{texts.noRequests}</p>
      ) : (
        <RequestList app={app} exchanges={exchanges} />
      )}
      {isComparing.value && <CompareDialog app={app} onClose={() => (isComparing.value = false)} />}
    </div>
  );
}
