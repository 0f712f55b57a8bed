/** What is known of one thing: names and values. What has no value is left out. */
import type { ReactNode } from 'react';

type Props = { facts: readonly (readonly [name: string, value: ReactNode])[]; isCard?: boolean };

export const Facts = ({ facts, isCard = false }: Props) => (
  <dl className={isCard ? 'facts card' : 'facts'}>
    {facts
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
