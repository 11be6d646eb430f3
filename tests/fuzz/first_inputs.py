"""First inputs of fuzzing for each reader. Examples of whole formats are in `corpus` and in other tests."""

from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")

TREE = "".join(f"host {name}\n" for name in "abcd") + "".join(
    f"link {name}.{way} {rate}\n" for name, rate in (*((host, "1e9") for host in "abcd"), ("l", "2e9"), ("r", "2e9"))
    for way in ("up", "down")) + "".join(
    f"route {a} {b} 2e-7 {a}.up {b}.down\n" if (a in "ab") == (b in "ab") else
    f"route {a} {b} 4e-7 {a}.up {'lr'[a in 'cd']}.up {'lr'[b in 'cd']}.down {b}.down\n"
    for a in "abcd" for b in "abcd" if a != b)
MACHINE = """name = "a"
title = "a"
shape = {value = "2x3x4", source = "s", certain = true}
twists = {value = [[0, 2, 3], [0, 0, 1], [0, 0, 0]], source = "s", certain = true}
tasks_per_node = {value = 1, source = "s", certain = true}
link_bandwidth = {value = "1 GB/s", source = "s", certain = true}
partition = {value = {rule = "always", unit = "1x1x1", twisted = ["2x2x4", "2x3x4:twist=xz1"]}, source = "s", certain = true}
"""
BENCH = ('{"schema": "pencilmap-transpose-bench/1", "mpi": "MPI", "group": 2, "exchange": "alltoall", "message_bytes": 16, '
         '"refused": null, "total_times": {"max_s": [1e-06], "mean_s": [1e-06], "min_s": [1e-06]}}\n')
OPTIONS = ("--size=8 9 10 --grid=4 --decomposition slab --direction pair --type r2c --kinds 2,2,s1 --skip x --precision "
           "single --layout natural --in-place --fields 3 --schedule overlap:4 --auto-budget 1.5 --reps 3 --warmup 0 "
           "--rigor measure --sync barrier --per-rank --print-plan --byte-matrix row=a.grf --wisdom w --machine-torus 4x4 "
           "--tasks-per-node 2 --mapfile m --launch-order xyt --coordinates table:h",
           "--size 4 4 4 --grid 1x1 --type c2r --direction backward --barrier", "--help", "x --size 4",
           "--size 16 16 16 --grid 2x4 --exchange auto --verify --json - --label a=b")

IN_C = {
    "torus": ["8x8x8\nxyzt\n8x64", "4x3:mesh\ntyx\n12", "2wx3x5w:axes=abc\ncbat\n1x1", "1\nnt\n1x2", "4x2\nx2txy\n4x2\n",
              "4x4x4x4x2\nABCDET\n2048x1", "2x2x2x2x2:torus\ntn\n64"],
    "mapfile": ["2x2 1 4\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n", "3:mesh 2 4\n# x t\n\n0 0\n 0 1 # here\n2\t1\n2 0\n",
                "1x1x1x1x2 1 2\n0 0 0 0 1 0\n0 0 0 0 0 0", "2 1 2\n0 0\n0 0\n", f"2 1 2\n{' ' * 500}0 0\n1 0\n"],
    "hosts": ["node-3-0-1\nnode-3-0-1 3 0 1\nother.site.org 1 2 1\n", "r1c2n3.site.org\nr1c2n3 1 2 0\n",
              "Processor <1,2,0,3> in a <4, 3, 2, 4> mesh\n# table\n", f"{'a' * 300}1-2-1\n"],
    "request": ["4x4x2 tasks=2 placement=digits:x=r4,y=c4,z=r2,t=c2 where=assumed\n8x8",
                "4x4x2 tasks=2 placement=digits:x=x4,y=y4,z=z2,t=z2 where=assumed\n4x4x4",
                "8x8:mesh placement=default:yxt where=table:a\n64", "4x4 placement=ring:x=0.1/3.2,y=r4\n8x2",
                "5x5 placement=lattice:c=1.2.0/0.5.0/0.0.1,tile=0.1.5.6.10 where=auto\n5x5",
                "4x2 placement=digits:x=s4i1,y=s2\n8"],
    "options": [words.replace(" ", "\n") for words in OPTIONS],
    "wisdom": ["pencilfft-wisdom 1\nmachine a; b; c\nexchange key p2p\nfftw 4\nabcd\nfftwf 0\n\nchecksum 0123456789abcdef\n",
               "exchange key p2p\nexchange other/3 alltoallv\nfftw 6\n(fftw)\nfftwf 4\n(ff)\n", "fftw 99999\n(fftw)\n"],
    "platform": ["# mesh\nshape = 4x2:mesh\nbandwidth_bytes_per_s = 1e9 2e9\ncables = 1 2\ninjection_bytes_per_s = 0\n"
                 "loopback_bytes_per_s=1e15\nspeed_flops = 1e9\nusage_file = out.csv\n",
                 "shape = 8x8x8\nbandwidth_bytes_per_s = 1.48e8\nlatency_s = 1e-7\ntie = plus\norder = 2 1 0\n"],
    "routes": [TREE, "host a\nhost b\nlink x 1\nlink y 2.5e9\nroute a b 0 x*3 y\nroute b a 1e-6 y*65536   # parts\n"
                     "route a a 0\n"],
}
NODE = ('<topology version="2.0"><object type="Machine" allowed_cpuset="0xe">\n' + "".join(
    f'<object type="Package" cpuset="{hex(3 << 2 * k)}"><object type="NUMANode" cpuset="{hex(3 << 2 * k)}"/>\n'
    f'<object type="Core" cpuset="{hex(1 << 2 * k)}"/><object type="Core" cpuset="{hex(2 << 2 * k)}"/></object>\n'
    for k in (0, 1)) + "</object></topology>")
IN_PYTHON = {
    "description": ["NodeName=DEFAULT CPUs=4\nNodeName=tux[000x111,200x211] \\\n  CPUs=2\nNodeSet=fat Nodes=tux000\n"
                    "PartitionName=DEFAULT Nodes=ALL\nPartitionName=p\nPartitionName=q Nodes=fat,tux001\n",
                    "\x01000000- topology: torus\n  torus3d:\n    toruses: []\n", "topology: 0 0\n \n 0"],
    "environment": ["SLURM_JOB_NODELIST=n[0-1],n3\nSLURM_TASKS_PER_NODE=2(x2),1\n", "LSB_MCPU_HOSTS=n1 2 n2 2\n",
                    "RUNJOB_SHAPE=4x4x4x4x2\nRUNJOB_RANKS_PER_NODE=16\nLOADL_BG_CONNECTIVITY=torus\n",
                    "SLURM_JOB_NODELIST=tux[000x112]\nSLURM_DISTRIBUTION=plane\nSLURM_DIST_PLANESIZE=4\nSLURM_HOSTFILE=/h\n",
                    "FLUX_JOB_ID=f1\nFLUX_JOB_NNODES=3\nFLUX_JOB_SIZE=6\nSLURM_JOB_NODELIST=n[0-3]\n"
                    "SLURM_TOPOLOGY_ADDR=s.l.n0\nSLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node\n",
                    "PJM_NODE_X=4\nPJM_NODE_Y=2\nPJM_PROC_BY_NODE=4\n",
                    "PJM_JOBID=12\nPJM_NODE=7\nPJM_MPI_PROC=28\nPJM_PROC_BY_NODE=4\n",
                    "TPU_TOPOLOGY=4x4x8\nTPU_TOPOLOGY_WRAP=true,true,true\n"],
    "images": ["image 0-0-0 1-0-0 0-1-0 1-1-0\nrepeat 2 2-0-0\nrepeat 2 0-0-1\n",
               "image slots=0-1\n0-0-0 1-0-0\nrepeat 8 0-0-0\n",
               "image slots=0 0-0-0 1-0-0 2-0-0 3-0-0 # one\nimage slots=1 0-0-0 1-0-0 2-0-0 3-0-0\nrepeat 2 0-1-0\n"
               "repeat 2 0-0-1\n"],
    "inside": [NODE.replace("0x", "0x00000000,0x"), NODE.replace("Core", "PU")],
    "machine": [MACHINE],
    "network": ["dragonfly:a=4,p=2,h=2,links=2", "dragonfly-plus:leaves=2,spines=2,hosts=2,groups=3", "torus:4x4wx2",
                "fat-tree:leaves=8,hosts=4,taper=2,pods=2,core-taper=2,rails=2,use=task", "hypercube:5",
                "hyperx:4x4,hosts=2,cables=2", "dragonfly:a=4,p=2,groups=5,cables=3"],
    "placement": ["node-0-0-0:2 binding=user:0,1 user=me\nme@node-1-0-0\n", "(0,1) core=3\n", "[[0,16,1,2]]\n",
                  "// ours\n/* of\n two */ rank 0=me@node-0-0-0 slot=0:0;0:1 # here\nrank 1=node-1-0-0.site.org slot=*\n",
                  "node-0-0-[0-1],node-1-0-0:2 # two\n", "[[[0,1],[2,3]]]\n", '{"version": 1, "map": [[0,2,2,1]]}\n',
                  "0-3,5,4\n6-7", "0-1;2-3\n", "0,1;2,3;4-5\n", "rank 0=+n1 slot=0:1\nrank 1=+n1 slot=0:0,2\n",
                  "node-0-0-0 slots=2 max_slots=4\nnode-1-0-0 slots=2\n", "# ours\nnode-3-1-1 # one\nnode-0-0-0\n",
                  "node-0-0-0*2, node-1-0-0 ,\n# ours\nnode-2-0-0 * 2 # here\n", "(vector,(0,4,2),(4,2,1))\n",
                  "rank 0=+n0 slot=0:0,1 rank 1=+n1\nrank 2=+n2 slot=1\n"],
    "table": ["node-3-1-0\nr0c1n1\n", "1 0 1 n5.site\n0 0 0 n6\n", "cab7 1 0 0\ncab3 0 0 0\n", "0 0 0\n1 1 1\n",
              "a0 0 0 0\na1 0 0 0\nb0 1 0 0\nb1 1 0 0\n", "nid1 x1001c0s0b0n0\nnid2 x1001c0s0b1n0\nnid3 x1003c7s7b1n0\n"],
    "text": ["tux[000x113,12A-12C]", "digits:x=r4,y=c2,z=c2,t=c2", "rack[0-1]n[00-15],login", "8x8x16:mesh", "1.4 Gbit/s",
             "lattice:c=1.2.0/0.5.0/0.0.1,tile=0.1.5.6", "0-0-0,1-0-0:3-1-1", "ring:x=0.1/3.2,y=r2,z=c2",
             "n{x:02d}-{y}{z}-{node}", "4wx4x2:axes=abc", "512x256x128 r2c single",
             "data=8:all-reduce:1GB,one=1:any,tensor=16:all-gather:4.5 MiB"],
    "traffic": ["0 800 0\n800 0 12\n0 7 0\n", "%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 8\n2 3 4\n",
                "%%MatrixMarket matrix array real general\n2 2\n0\n1e3\n8\n0\n",
                "# POINT TO POINT\nE\t0\t1\t8 bytes\t2 msgs sent\t2,0\nI\t0\t1\t9 bytes\t1 msgs sent\n# OSC\n"
                "R\t0\t1\t3 bytes\t1 msgs sent\n# COLLECTIVES\nC\t0\t1\t9 bytes\t1 msgs sent\n"
                "D\tMPI_COMM_WORLD\tprocs: 0,1\nA2A\t0\t1 bytes\t1 msgs sent\n",
                '<ipm_job_profile>\n<task mpi_rank="0" mpi_size="1" stamp_init="1" stamp_final="2.5" >\n<hash >\n'
                '<hent key="7" call="MPI_Send" bytes="8" orank="0" count="2" >1 1 1</hent>\n</hash>\n</task>\n'
                "</ipm_job_profile>\n",
                "~~~~ Process 0 of 1 on node n1 lifetime = 2.5\nSrc --> Dst Amount(MB) Transfers\n---\n"
                "000 --> 000 1.5e-05 3\nTotals 1.5e-05 3\n",
                "| Rank <-> Rank Volume(MB) Volume(%) Transfers\n 0 <-> 1 4.5 100 3\n| TOTAL 4.5 100 3\n",
                "ranks 4\nphase x\n0 1 8 1\n1 0 8 1\nphase y\n0 1 5 2\n",
                "ranks 5\n0 1 800 2\n1 0 30 1\n2 3 5000000000 70\n",
                "pencilmap traffic 1\nmpi Open MPI v4.1.4\nranks 4\nseconds 1.5\noutside 8 1\nphase 0 times 10 seconds 1.2\n"
                "phase 1 times 1 seconds 0.1 level 3\ncommunicator 0 size 4 grid 2x2 periodic 1,0 first 0 stride 1\n"
                "communicator 1 size 3 inter ranks 3,0,2\n0 0 0 0 1 8000 10\n1 1 2 3 2 5 1\n1 -1 4 3 2 5 1\nend 3\n"],
    "times": [BENCH, "# a comment\nn,ranks,time_s,grid,decomposition,transforms,point_bytes,mean_s,deviation_s\n"
                     "64,8,0.5,2x4,pencil,2,8,0.4,0.01\n32x16x8,4,1e-3,,slab,,,,\n"],
}
