import { useEffect, useRef } from 'preact/hooks';
import type { App } from '#web/state/app.ts';
import { Button } from '../controls.tsx';
import { toolTexts } from '../tools.ts';
import type { FaultRunner, FaultState } from './fault-runner.ts';
import { tellFinding, type FaultName, type Verdict } from './finding.ts';

/** Beside the word, so that the colour is never alone. */
const marks: Record<Verdict['outcome'], string> = { held: '✓', broken: '✗', unclear: '?' };

function Result({ app, state }: { app: App; state: FaultState }) {
  const texts = toolTexts(app).faults;
  const figures = app.figures.value;
  switch (state.phase) {
    case 'idle':
      return null;
    case 'running':
      return <span class="quiet">{texts.running(figures.duration(state.elapsedMs))}</span>;
    case 'failed':
      return <span class="fault-problem">{texts.failed(state.problem)}</span>;
    case 'judged': {
      const { outcome, finding } = state.verdict;
      return (
        <>
          <strong class="outcome">
            <span aria-hidden="true">{marks[outcome]}</span> {texts.outcome[outcome]}
          </strong>{' '}
          {tellFinding(texts.findings, finding, figures)}{' '}
          <span class="quiet">({texts.took(figures.duration(state.tookMs))})</span>
        </>
      );
    }
  }
}

/** One fault: what it does, what must hold, and whether it did. */
export function FaultCard(input: {
  app: App;
  name: FaultName;
  runner: FaultRunner;
  hindrance: 'notHere' | 'noStandIn' | undefined;
}) {
  const { app, name, runner, hindrance } = input;
  const texts = toolTexts(app).faults;
  const { title, does, holds } = texts.names[name];
  const state = runner.stateOf(name);
  const isRunning = runner.running.value === name;
  const card = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isRunning) card.current?.scrollIntoView({ block: 'nearest' });
  }, [isRunning]);
  const outcome = state.phase === 'judged' ? state.verdict.outcome : state.phase;
  return (
    <li ref={card} class="fault" data-fault={name} data-outcome={outcome}>
      <div class="fault-head">
        <h3>{title}</h3>
        <Button
          class="button small"
          text={isRunning ? texts.stop : texts.run}
          disabled={hindrance !== undefined || (runner.running.value !== undefined && !isRunning)}
          aria-label={`${isRunning ? texts.stop : texts.run}: ${title}`}
          onClick={() => (isRunning ? runner.stop() : void runner.run([name]))}
        />
      </div>
      <p>{does}</p>
      <p class="quiet">
        {texts.mustHold}: {holds}
      </p>
      {hindrance !== undefined && <p class="quiet">{texts[hindrance]}</p>}
      <p class="fault-result" role="status">
        <Result app={app} state={state} />
      </p>
    </li>
  );
}
