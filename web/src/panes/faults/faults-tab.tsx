import { useEffect } from 'preact/hooks';
import type { App } from '#web/state/app.ts';
import { Button } from '../controls.tsx';
import { perApp, toolTexts } from '../tools.ts';
import { FaultCard } from './fault-card.tsx';
import { faultNames } from './fault-list.ts';
import { createFaultRunner, findHindrance, type FaultRunner } from './fault-runner.ts';
import { createSupervisor } from './supervisor.ts';

/** Runs go on while another tab is shown. */
const runnerOf = perApp((app): FaultRunner | undefined => {
  const { supervisor } = app.config;
  return supervisor && createFaultRunner(app, createSupervisor(supervisor, fetch.bind(globalThis)));
});

interface FaultsProps {
  app: App;
  runner: FaultRunner;
}

/** What concerns all faults, and how many held. */
function FaultBar({ app, runner }: FaultsProps) {
  const texts = toolTexts(app).faults;
  const { count } = app.figures.value;
  const state = runner.supervisor.value;
  const possible = faultNames.filter((name) => state && findHindrance(name, state) === undefined);
  const isRunning = runner.running.value !== undefined;
  const outcomes = faultNames.flatMap((name) => {
    const found = runner.stateOf(name);
    return found.phase === 'judged' ? [found.verdict.outcome] : [];
  });
  const held = outcomes.filter((outcome) => outcome === 'held');
  const waiting = state?.model?.waitingFaults ?? 0;
  return (
    <div class="tool-bar">
      <Button
        class="button small"
        text={texts.runAll}
        disabled={isRunning || possible.length === 0}
        onClick={() => void runner.run(possible)}
      />
      <Button class="button small" text={texts.reset} onClick={() => void runner.reset()} />
      {outcomes.length > 0 && (
        <span role="status" class="figure">
          {texts.sum(count(held.length), count(outcomes.length))}
        </span>
      )}
      {waiting > 0 && !isRunning && <span class="quiet">{texts.armed(count(waiting))}</span>}
    </div>
  );
}

/** What can go wrong, to be tried and judged. */
export function FaultsTab({ app }: { app: App }) {
  const texts = toolTexts(app).faults;
  const runner = runnerOf(app);
  useEffect(() => void runner?.look(), [runner]);
  if (!runner) return <p class="tool quiet">{texts.absent}</p>;
  const state = runner.supervisor.value;
  return (
    <div class="tool faults">
      <p class="quiet">{texts.intro}</p>
      <FaultBar app={app} runner={runner} />
      {runner.problem.value !== undefined && (
        <p class="problem" role="alert">
          {runner.problem.value}
        </p>
      )}
      <ul class="fault-list">
        {faultNames.map((name) => (
          <FaultCard
            key={name}
            app={app}
            name={name}
            runner={runner}
            hindrance={state && findHindrance(name, state)}
          />
        ))}
      </ul>
    </div>
  );
}
