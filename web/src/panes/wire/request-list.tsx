import { useSignal } from '@preact/signals';
import type { App } from '#web/state/app.ts';
import type { Exchange } from '#web/state/wire-log.ts';
import { Button } from '../controls.tsx';
import { toolTexts } from '../tools.ts';
import { toCurl } from './curl.ts';
import { shortened } from './frame-table.tsx';

const COPIED_SHOWN_MS = 3_000;

/** The newest 200 requests, the newest first. */
export function RequestList({ app, exchanges }: { app: App; exchanges: readonly Exchange[] }) {
  return (
    <ol class="wire-requests">
      {exchanges.toReversed().map((exchange) => (
        <RequestRow key={exchange.exchange} app={app} exchange={exchange} />
      ))}
    </ol>
  );
}

function RequestRow({ app, exchange }: { app: App; exchange: Exchange }) {
  const texts = toolTexts(app).wire;
  const { count } = app.figures.value;
  const copied = useSignal<'no' | 'yes' | 'refused'>('no');
  const { method, path, code, tookMs, problem } = exchange;
  const isGood = code !== undefined && code < 400;
  const status = code ?? (problem === undefined ? texts.underWay : texts.noAnswer);
  const command = toCurl(exchange);
  return (
    <li data-good={isGood || undefined} data-bad={(!isGood && tookMs !== undefined) || undefined}>
      <span class="wire-method">{method}</span>
      <span class="wire-path" title={path}>
        {shortened(path)}
      </span>
      <span class="figure wire-status">{status}</span>
      <span class="figure quiet">{tookMs === undefined ? '' : `${count(tookMs)} ms`}</span>
      <Button
        class="button small"
        text={copied.value === 'yes' ? texts.copied : 'curl'}
        aria-label={`${texts.copy}: ${method} ${path}`}
        onClick={() => {
          navigator.clipboard.writeText(command).then(
            () => {
              copied.value = 'yes';
              setTimeout(() => (copied.value = 'no'), COPIED_SHOWN_MS);
            },
            () => (copied.value = 'refused'),
          );
        }}
      />
      {copied.value === 'refused' && (
        <div class="wire-command">
          <p class="quiet">{texts.notCopied}</p>
          <pre>{command}</pre>
        </div>
      )}
    </li>
  );
}
