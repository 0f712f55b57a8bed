{{/* The environment of our processes: ACCORD_ variables of docs/configuration.md. */}}

{{- define "accord.masterKeySecret" -}}
{{- default (printf "%s-master-key" (include "accord.fullname" .)) .Values.masterKey.existingSecret -}}
{{- end -}}

{{/* What every process takes that works with the database. Takes a list: the root, its databasePool, its compilers. */}}
{{- define "accord.env" -}}
{{- $root := index . 0 -}}
{{- $config := $root.Values.config -}}
{{ include "accord.databaseUrl" (list $root "url") }}
- name: ACCORD_MASTER_KEY
  valueFrom:
    secretKeyRef:
      name: {{ include "accord.masterKeySecret" $root | quote }}
      key: {{ ternary $root.Values.masterKey.key "master-key" (not (empty $root.Values.masterKey.existingSecret)) | quote }}
- name: ACCORD_BASE_URL
  value: {{ include "accord.baseUrl" $root | quote }}
- name: ACCORD_LISTEN
  value: {{ printf "%s:8080" $config.listenAddress | quote }}
- name: ACCORD_ADMIN_LISTEN
  value: {{ printf "%s:8081" $config.listenAddress | quote }}
- name: ACCORD_DATABASE_POOL
  value: {{ index . 1 | quote }}
- name: ACCORD_COMPILERS
  value: {{ index . 2 | quote }}
- name: ACCORD_MAX_STALENESS
  value: {{ $config.maxStalenessSeconds | quote }}
- name: ACCORD_OUTBOUND_ALLOW
  value: {{ join "," $config.outboundAllow | quote }}
- name: ACCORD_TRUST_PROXY
  value: {{ join "," $config.trustProxy | quote }}
- name: ACCORD_RATE_LIMIT
  value: {{ int64 $config.rateLimit | quote }}
- name: ACCORD_MAX_CONNECTIONS
  value: {{ int64 $config.maxConnections | quote }}
- name: ACCORD_HTTPS_PROXY
  value: {{ $config.httpsProxy | quote }}
- name: ACCORD_NO_PROXY
  value: {{ join "," $config.noProxy | quote }}
- name: ACCORD_CA_BUNDLE
  value: {{ empty $root.Values.caBundle.configMap | ternary "" "/etc/accord/ca-bundle/ca.crt" | quote }}
- name: ACCORD_SMTP_URL
  {{- with $root.Values.mail }}
  {{- if and (or .existingSecret .smtpUrl) (not .from) }}{{ fail "mail.existingSecret and mail.smtpUrl need mail.from: the sender of the mail" }}{{ end }}
  {{- if .existingSecret }}
  valueFrom:
    secretKeyRef:
      name: {{ .existingSecret | quote }}
      key: {{ .key | quote }}
  {{- else }}
  value: {{ .smtpUrl | quote }}
  {{- end }}
  {{- end }}
- name: ACCORD_MAIL_FROM
  value: {{ $root.Values.mail.from | quote }}
- name: ACCORD_ENVIRONMENT
  value: {{ $config.environment | quote }}
- name: ACCORD_ACCESS_LOG
  value: {{ $config.accessLog | quote }}
- name: ACCORD_METRICS_POLICIES
  value: {{ int64 $config.metricsPolicies | quote }}
- name: ACCORD_LOG_LEVEL
  value: {{ $config.logLevel | quote }}
- name: NODE_COMPILE_CACHE
  value: /tmp/compiled
{{- end -}}

{{/* Takes the seconds that a start may take. */}}
{{- define "accord.probes" -}}
startupProbe:
  httpGet:
    path: /live
    port: admin
  periodSeconds: 2
  failureThreshold: {{ div . 2 }}
livenessProbe:
  httpGet:
    path: /live
    port: admin
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: /ready
    port: admin
  periodSeconds: 3
  timeoutSeconds: 2
  failureThreshold: 2
{{- end -}}
