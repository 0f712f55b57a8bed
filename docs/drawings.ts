/** What docs/images/*.svg show. */
import type { Drawing } from './diagrams.ts';

const parts: Drawing = {
  title: 'The parts of Accord and who speaks to them',
  size: [760, 330],
  boxes: [
    { at: [20, 30], size: [170, 56], kind: 'part', lines: ['Back ends', 'may she do this now?'] },
    { at: [20, 136], size: [170, 56], kind: 'part', lines: ['Users', 'share, agree, log in'] },
    { at: [20, 242], size: [170, 56], kind: 'part', lines: ['Members', 'administer a tenant'] },
    {
      at: [290, 30],
      size: [210, 162],
      kind: 'own',
      lines: [
        'Server (any number)',
        'decides by policies',
        'keeps sharing and consents',
        'authorization server',
        'portal',
      ],
    },
    { at: [290, 242], size: [210, 56], kind: 'own', lines: ['Operator', 'compiles and reconciles'] },
    { at: [590, 80], size: [150, 62], kind: 'store', lines: ['Postgres', 'all that is kept'] },
    { at: [590, 242], size: [150, 56], kind: 'part', lines: ['Manifests', 'cluster, or files'] },
  ],
  arrows: [
    {
      path: [
        [190, 58],
        [286, 58],
      ],
      label: 'allow, deny',
      at: [238, 50],
    },
    {
      path: [
        [190, 164],
        [286, 164],
      ],
    },
    {
      path: [
        [190, 270],
        [240, 270],
        [240, 178],
        [286, 178],
      ],
    },
    {
      path: [
        [500, 111],
        [586, 111],
      ],
    },
    {
      path: [
        [590, 270],
        [504, 270],
      ],
    },
    {
      path: [
        [395, 242],
        [395, 217],
        [660, 217],
        [660, 146],
      ],
      label: 'configuration',
      at: [540, 211],
    },
  ],
};

const decision: Drawing = {
  title: 'How a decision is made',
  size: [760, 270],
  boxes: [
    { at: [20, 30], size: [150, 74], kind: 'part', lines: ['Request', 'subject, action,', 'resource, context'] },
    { at: [220, 30], size: [150, 74], kind: 'own', lines: ['Caller', 'token, tenant,', 'may it ask?'] },
    { at: [420, 30], size: [150, 74], kind: 'own', lines: ['Policy', 'that action names,', 'in memory'] },
    { at: [620, 30], size: [120, 74], kind: 'part', lines: ['Answer', 'outcome and', 'obligations'] },
    { at: [300, 176], size: [190, 62], kind: 'store', lines: ['Relationships', 'if the policy reads them'] },
    { at: [510, 176], size: [190, 62], kind: 'store', lines: ['Consents', 'if the policy reads them'] },
    { at: [30, 182], size: [130, 50], kind: 'part', lines: ['Refused', '401, 403'] },
  ],
  arrows: [
    {
      path: [
        [170, 67],
        [216, 67],
      ],
    },
    {
      path: [
        [370, 67],
        [416, 67],
      ],
    },
    {
      path: [
        [570, 67],
        [616, 67],
      ],
    },
    {
      path: [
        [395, 176],
        [395, 140],
        [470, 140],
        [470, 108],
      ],
    },
    {
      path: [
        [595, 176],
        [595, 140],
        [520, 140],
        [520, 108],
      ],
    },
    {
      path: [
        [270, 104],
        [270, 207],
        [164, 207],
      ],
      label: 'wrong token',
      at: [215, 200],
      dashed: true,
    },
  ],
};

const sharing: Drawing = {
  title: 'Sharing a car by invitation',
  size: [640, 250],
  boxes: [
    { at: [20, 30], size: [130, 56], kind: 'part', lines: ['Alice', 'may use the car'] },
    { at: [220, 30], size: [160, 56], kind: 'own', lines: ['Invitation', 'policy: may she?'] },
    { at: [450, 30], size: [150, 56], kind: 'part', lines: ['Dave', 'opens the mail'] },
    { at: [450, 164], size: [150, 56], kind: 'own', lines: ['Accepting', 'address is checked'] },
    { at: [220, 164], size: [160, 56], kind: 'store', lines: ['Relationship', 'dave may_use car-7'] },
    { at: [20, 164], size: [130, 56], kind: 'own', lines: ['Next decision', 'allow'] },
  ],
  arrows: [
    {
      path: [
        [150, 58],
        [216, 58],
      ],
      label: 'invites',
      at: [183, 50],
    },
    {
      path: [
        [380, 58],
        [446, 58],
      ],
      label: 'token',
      at: [413, 50],
    },
    {
      path: [
        [525, 86],
        [525, 160],
      ],
      label: 'accepts',
      at: [556, 128],
    },
    {
      path: [
        [450, 192],
        [384, 192],
      ],
      label: 'makes',
      at: [417, 184],
    },
    {
      path: [
        [220, 192],
        [154, 192],
      ],
      label: 'read by',
      at: [187, 184],
    },
  ],
};

const consent: Drawing = {
  title: 'Versions and documents of a consent on a time line',
  size: [760, 260],
  boxes: [
    { at: [110, 40], size: [360, 40], kind: 'part', lines: ['Version 1 counts for who agreed to it'] },
    { at: [470, 40], size: [150, 40], kind: 'store', lines: ['grace of each user'] },
    { at: [330, 110], size: [400, 40], kind: 'own', lines: ['Version 2 (a major change): users agree anew'] },
    { at: [490, 170], size: [240, 36], kind: 'part', lines: ['other words, no new consent'] },
    { at: [20, 40], size: [80, 40], kind: 'note', lines: ['major'] },
    { at: [20, 110], size: [80, 40], kind: 'note', lines: ['major'] },
    { at: [20, 170], size: [80, 36], kind: 'note', lines: ['minor'] },
  ],
  arrows: [
    {
      path: [
        [110, 232],
        [740, 232],
      ],
      label: 'time',
      at: [724, 250],
    },
    {
      path: [
        [330, 222],
        [330, 154],
      ],
      dashed: true,
      label: 'version 2 takes effect',
      at: [330, 250],
    },
    {
      path: [
        [490, 222],
        [490, 210],
      ],
      dashed: true,
    },
  ],
};

const revision: Drawing = {
  title: 'From a change of configuration to the decision that uses it',
  size: [765, 215],
  boxes: [
    { at: [20, 30], size: [150, 62], kind: 'part', lines: ['Manifest or PUT', 'one owner each'] },
    { at: [210, 30], size: [170, 62], kind: 'own', lines: ['Checks', 'schema, compile, tests'] },
    { at: [420, 30], size: [130, 62], kind: 'store', lines: ['Revision 42', 'in Postgres'] },
    { at: [615, 30], size: [130, 62], kind: 'own', lines: ['Every server', 'decides with it'] },
    { at: [210, 124], size: [170, 46], kind: 'part', lines: ['Refused', 'the one before stays'] },
  ],
  arrows: [
    {
      path: [
        [170, 61],
        [206, 61],
      ],
    },
    {
      path: [
        [380, 61],
        [416, 61],
      ],
    },
    {
      path: [
        [550, 61],
        [611, 61],
      ],
      label: 'NOTIFY',
      at: [581, 53],
    },
    {
      path: [
        [295, 92],
        [295, 120],
      ],
      dashed: true,
    },
    {
      path: [
        [680, 92],
        [680, 196],
        [95, 196],
        [95, 96],
      ],
      label: 'status: Programmed',
      at: [520, 190],
      dashed: true,
    },
  ],
};

const production: Drawing = {
  title: 'An installation in production',
  size: [760, 300],
  boxes: [
    { at: [20, 40], size: [140, 56], kind: 'part', lines: ['Back ends', 'inside the cluster'] },
    { at: [20, 150], size: [150, 56], kind: 'part', lines: ['Users, members', 'by an ingress, TLS'] },
    { at: [250, 30], size: [170, 50], kind: 'own', lines: ['Server 1', 'zone a'] },
    { at: [250, 96], size: [170, 50], kind: 'own', lines: ['Server 2', 'zone b'] },
    { at: [250, 186], size: [170, 56], kind: 'own', lines: ['Two operators', 'one leads'] },
    { at: [520, 40], size: [200, 62], kind: 'store', lines: ['Postgres 18', 'standby, backups'] },
    { at: [520, 186], size: [200, 56], kind: 'part', lines: ["Cluster's API", 'manifests, from Git'] },
  ],
  arrows: [
    {
      path: [
        [160, 68],
        [246, 55],
      ],
    },
    {
      path: [
        [170, 178],
        [205, 178],
        [205, 121],
        [246, 121],
      ],
    },
    {
      path: [
        [420, 55],
        [516, 60],
      ],
    },
    {
      path: [
        [420, 121],
        [470, 121],
        [470, 86],
        [516, 86],
      ],
    },
    {
      path: [
        [520, 214],
        [424, 214],
      ],
    },
    {
      path: [
        [335, 242],
        [335, 268],
        [620, 268],
        [740, 268],
        [740, 71],
        [724, 71],
      ],
      label: 'configuration',
      at: [560, 262],
    },
  ],
};

export const drawings: Readonly<Record<string, Drawing>> = { parts, decision, sharing, consent, revision, production };
