import type { App } from '../../state/app.ts';
import type { OpenConversation } from '../../state/conversation.ts';
import { gaugeOf } from '../../state/gauge.ts';

const percent = (share: number): string => `${(100 * share).toFixed(3)}%`;

/** How full the context is, of what, and where it is compacted. */
export function TokenGauge({ app, conversation }: { app: App; conversation: OpenConversation }) {
  const texts = app.texts.value.inspector;
  const { count } = app.figures.value;
  const context = conversation.context.value;
  if (!context) return null;
  const gauge = gaugeOf(context, conversation.shown.value);
  const limit = context.thresholdTokens ?? context.windowTokens;
  return (
    <div class="gauge">
      <p class="gauge-figure">
        <strong>{count(context.tokens)}</strong> / {count(limit)} {texts.tokens}
        <span class="quiet"> · {texts.source[context.source]}</span>
      </p>
      <div
        class="gauge-bar"
        role="meter"
        aria-label={texts.gauge}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(limit, context.tokens)}
        aria-valuetext={texts.of(count(context.tokens), count(limit))}
      >
        {gauge.segments.map(({ kind, share }) => (
          <span key={kind} class={`segment ${kind}`} style={{ width: percent(share) }} />
        ))}
        {gauge.marks.map(({ kind, at }) => (
          <span key={kind} class={`mark ${kind}`} style={{ left: percent(at) }} />
        ))}
      </div>
      <ul class="gauge-legend">
        {gauge.segments.map(({ kind, tokens }) => (
          <li key={kind}>
            <span class={`swatch ${kind}`} aria-hidden="true" />
            {texts.segments[kind]} <span class="figure">{count(tokens)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
