/** Everything about one person. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useFilters, useRouteParams } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { isResourceType, useModel } from '../../model/load.ts';
import {
  CopyId,
  curl,
  Icon,
  Link,
  Notice,
  PageHeader,
  ProblemAlert,
  RelativeTime,
  ShowAs,
  WithPanel,
} from '../../ui/index.ts';
import { Access } from './access.tsx';
import { Consents } from './consents.tsx';
import { Erase } from './erase.tsx';
import { MayNot } from './may-not.tsx';
import { Relationships } from './relationships.tsx';
import type { About, Entity } from './shapes.ts';
import { texts } from './texts.ts';
import { TimeLine } from './time-line.tsx';
import './people.css';

/** The account's, or the attribute by which mails name a person, too. */
function nameOf({ displayName, attributes = {} }: Partial<About> = {}): string | undefined {
  const names = [displayName, attributes.displayName, attributes.name];
  return names.find((one): one is string => typeof one === 'string' && one !== '');
}

export default function Person() {
  const { type = '', id = '' } = useRouteParams();
  const { tenant } = useTenant();
  return mayDo(tenant.role, 'records') ? <Page key={`${type}/${id}`} of={{ type, id }} /> : <MayNot />;
}

function Page({ of }: { of: Entity }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [{ erase }, setErase] = useFilters(['erase']);
  const isErasing = erase !== undefined && mayDo(tenant.role, 'admin');
  const setErasing = (isOpen: boolean) => setErase({ erase: isOpen ? '1' : undefined });
  const path = `/people/${segment(of.type)}/${segment(of.id)}`;
  const about = useQuery({
    queryKey: ['people', tenant.code, of, 'about'],
    queryFn: async ({ signal }) => (await api.get<About>(path, { signal })).data,
  });
  const isSupport = tenant.role === 'support';
  const isResource = isResourceType(useModel().data, of.type);
  return (
    <>
      <PageHeader
        title={nameOf(about.data) ?? of.id}
        about={isResource ? undefined : t.personAbout}
        back={{ to: '/people', label: t.title }}
        actions={
          <>
            <ShowAs curl={curl(api.path(`${path}/timeline`))} />
            {mayDo(tenant.role, 'admin') && !isResource && (
              <Button variant="default" leftSection={<Icon name="trash" />} onClick={() => setErasing(true)}>
                {t.erase}
              </Button>
            )}
          </>
        }
      />
      {about.error ? (
        <ProblemAlert error={about.error} onRetry={() => about.refetch()} />
      ) : (
        <Head about={about.data ?? of} />
      )}
      {isResource && (
        <div className="person-note">
          <Notice>
            {t.isResource(of.type)}{' '}
            <Link to={`/model/relationships?type=${segment(of.type)}&id=${segment(of.id)}`}>{t.ofResource(of.id)}</Link>
          </Notice>
        </div>
      )}
      {isSupport && (
        <div className="person-note">
          <Notice>{t.masked}</Notice>
        </div>
      )}
      <WithPanel panel={isErasing && <Erase of={of} onClose={() => setErasing(false)} />}>
        <div className="person">
          <TimeLine of={of} />
          <div className="stack">
            {!isSupport && <Access of={of} />}
            <Relationships of={of} side="from" />
            <Relationships of={of} side="to" />
            {!isSupport && <Consents of={of} />}
          </div>
        </div>
      </WithPanel>
    </>
  );
}

function Head({ about }: { about: About }) {
  const t = useTexts(texts);
  const { type, id, account, firstSeen, lastSeen, attributes } = about;
  const shown = Object.entries(attributes ?? {}).filter(([name]) => name !== 'displayName');
  return (
    <dl className="person-facts">
      <div>
        <dt>{t.id}</dt>
        <dd>
          <CopyId id={id} max={40} />
        </dd>
      </div>
      <div>
        <dt>{t.type}</dt>
        <dd>{type}</dd>
      </div>
      {account && (
        <div>
          <dt>{t.account}</dt>
          <dd>{account.email}</dd>
        </div>
      )}
      <div>
        <dt>{t.firstSeen}</dt>
        <dd>{firstSeen === undefined ? t.never : <RelativeTime at={firstSeen} />}</dd>
      </div>
      <div>
        <dt>{t.lastSeen}</dt>
        <dd>{lastSeen === undefined ? t.never : <RelativeTime at={lastSeen} />}</dd>
      </div>
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
